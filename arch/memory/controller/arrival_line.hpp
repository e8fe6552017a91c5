// What is on its way to a channel, and what has arrived but finds no room in its queue: in order of
// arrival, then of submission.
#pragma once

#include <cstdint>

#include "arch/base/ring.hpp"
#include "arch/memory/device/address_map.hpp"

namespace tilesim::arch::memory::controller {

// Some of a request's bursts: neighbours in one row.
struct Arrival {
    std::int64_t when = 0;  // CK
    std::uint64_t request = 0;
    device::Location first;
    std::uint32_t count = 0;
    bool write = false;

    bool is_continued_by(device::Location burst) const { return burst == first.plus(count); }
};

class ArrivalLine {
  public:
    bool empty() const { return line_.empty(); }
    // Nothing in front has arrived later than this. Its neighbours are to be added at once.
    Arrival& expect(bool write, std::uint64_t request, device::Location first, std::int64_t when) {
        Arrival& arrival =
            base::insert_before(line_, [when](const Arrival& other) { return other.when > when; });
        arrival.when = when;
        arrival.request = request;
        arrival.first = first;
        arrival.count = 1;
        arrival.write = write;
        return arrival;
    }
    bool one_has_come(std::int64_t now) const {
        return !line_.empty() && line_.front().when <= now;
    }
    // CK of the next arrival; one that has come and waits for room comes in when a burst leaves.
    std::int64_t next(std::int64_t now) const {
        const bool one_comes = !line_.empty() && line_.front().when > now;
        return one_comes ? line_.front().when : INT64_MAX;
    }
    const Arrival& first() const { return line_.front(); }
    // Takes so many bursts of the first, of which it has as many at least.
    void take(std::uint32_t bursts) {
        Arrival& from = line_.front();
        from.first = from.first.plus(bursts);
        from.count -= bursts;
        if (from.count == 0) {
            line_.pop_front();
        }
    }

  private:
    base::Ring<Arrival> line_;
};

}  // namespace tilesim::arch::memory::controller
