// What is on its way to a channel, and what has arrived but finds no room in its queue: in order of
// arrival, then of submission.
//
// Reads and writes stand in lines of their own, in which hardly anybody has to be passed by: each
// direction has its own way through the fabric, and they are late in turns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/base/ring.hpp"
#include "arch/memory/device/address_map.hpp"

namespace tilesim::arch::memory::controller {

// Some of a request's bursts: neighbours in one row.
struct Arrival {
    std::int64_t when = 0;   // CK
    std::int64_t order = 0;  // of submission
    std::uint64_t request = 0;
    device::Location first;
    std::uint32_t count = 0;
    bool write = false;

    bool is_continued_by(device::Location burst) const { return burst == first.plus(count); }
    bool before(const Arrival& other) const {
        return when < other.when || (when == other.when && order < other.order);
    }
};

class ArrivalLine {
  public:
    bool empty() const { return first_when_ == kNobody; }
    // Nothing in front has arrived later than this. Its neighbours are to be added at once.
    Arrival& expect(bool write, std::uint64_t request, device::Location first, std::int64_t when) {
        Arrival& arrival = base::insert_before(
            lines_[write ? 1 : 0], [when](const Arrival& other) { return other.when > when; });
        arrival.when = when;
        arrival.order = ++submitted_;
        arrival.request = request;
        arrival.first = first;
        arrival.count = 1;
        arrival.write = write;
        if (when < first_when_) {  // at one time the first there was submitted before
            first_when_ = when;
            first_line_ = write ? 1 : 0;
        }
        return arrival;
    }
    bool one_has_come(std::int64_t now) const { return first_when_ <= now; }
    // CK of the next arrival; one that has come and waits for room comes in when a burst leaves.
    std::int64_t next(std::int64_t now) const { return first_when_ > now ? first_when_ : kNobody; }
    const Arrival& first() const { return lines_[first_line_].front(); }
    // Takes so many bursts of the first, of which it has as many at least.
    void take(std::uint32_t bursts) {
        Arrival& from = lines_[first_line_].front();
        from.first = from.first.plus(bursts);
        from.count -= bursts;
        if (from.count == 0) {
            lines_[first_line_].pop_front();
            find_first();
        }
    }

  private:
    static constexpr std::int64_t kNobody = INT64_MAX;

    void find_first() {
        const base::Ring<Arrival>& reads = lines_[0];
        const base::Ring<Arrival>& writes = lines_[1];
        const bool write =
            reads.empty() || (!writes.empty() && writes.front().before(reads.front()));
        first_line_ = write ? 1 : 0;
        first_when_ = write && writes.empty() ? kNobody : lines_[first_line_].front().when;
    }

    std::array<base::Ring<Arrival>, 2> lines_;  // reads and writes
    std::int64_t first_when_ = kNobody;         // CK of the first of all
    std::size_t first_line_ = 0;                // which it stands in
    std::int64_t submitted_ = 0;
};

}  // namespace tilesim::arch::memory::controller
