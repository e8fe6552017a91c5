// What is on its way to a channel, and what has arrived but finds no room in its queue: in order of
// arrival, then of submission.
#pragma once

#include <array>
#include <cstdint>

#include "arch/base/ring.hpp"
#include "arch/memory/device/address_map.hpp"

namespace tilesim::arch::memory::controller {

// Some of a request's bursts, all for one channel.
struct Arrival {
    std::int64_t when = 0;  // CK
    std::uint64_t request = 0;
    std::array<device::Location, 4> bursts{};
    std::uint8_t count = 0;
    std::uint8_t let_in = 0;  // of them
    bool write = false;
};

class ArrivalLine {
  public:
    bool empty() const { return line_.empty(); }
    // Nothing in front has arrived later than this; to be filled at once.
    Arrival& expect(bool write, std::uint64_t request, std::int64_t when) {
        Arrival& arrival =
            base::insert_before(line_, [when](const Arrival& other) { return other.when > when; });
        arrival.when = when;
        arrival.request = request;
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
    device::Location take_burst() {
        Arrival& from = line_.front();
        const device::Location where = from.bursts[from.let_in++];
        if (from.let_in == from.count) {
            line_.pop_front();
        }
        return where;
    }

  private:
    base::Ring<Arrival> line_;
};

}  // namespace tilesim::arch::memory::controller
