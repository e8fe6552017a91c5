// A clock domain: converts between its cycles and simulated time without accumulating rounding.
//
// Edge n stands at ceil(n * 1e15 / f) femtoseconds, computed from n each time, so 1.8 GHz (whose
// period is no whole number of femtoseconds) never drifts.
#pragma once

#include "arch/base/units.hpp"

namespace tilesim::arch::base {

// Products of cycles and femtoseconds a second do not fit in 64 bits.
__extension__ typedef __int128 Int128;

class Clock {
  public:
    explicit constexpr Clock(Hertz frequency) : hertz_(frequency.count()) {}

    constexpr Hertz frequency() const { return Hertz{hertz_}; }

    // Time of edge `cycle`.
    constexpr Femtoseconds time_of(Cycles cycle) const {
        return Femtoseconds{static_cast<std::int64_t>(
            (static_cast<Int128>(cycle.count()) * kFemtosecondsPerSecond + hertz_ - 1) / hertz_)};
    }
    // Number of the last edge at or before `time`.
    constexpr Cycles cycle_at(Femtoseconds time) const {
        return Cycles{static_cast<std::int64_t>(static_cast<Int128>(time.count()) * hertz_ /
                                                kFemtosecondsPerSecond)};
    }
    // Number of the first edge at or after `time`.
    constexpr Cycles first_cycle_from(Femtoseconds time) const {
        // Edges are rounded up: edge n is the first iff its exact time lies beyond `time` - 1 fs.
        const auto before = static_cast<Int128>(time.count() - 1) * hertz_;
        return time.count() == 0
                   ? Cycles{0}
                   : Cycles{static_cast<std::int64_t>(before / kFemtosecondsPerSecond) + 1};
    }

  private:
    static constexpr Int128 kFemtosecondsPerSecond = 1'000'000'000'000'000;
    std::int64_t hertz_;
};

}  // namespace tilesim::arch::base
