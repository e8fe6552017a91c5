// A clock domain: converts between its cycles and simulated time without accumulating rounding.
//
// Edge n stands at ceil(n * 1e15 / f) femtoseconds, computed from n each time, so 1.8 GHz (whose
// period is no whole number of femtoseconds) never drifts.
#pragma once

#include <cstdint>
#include <numeric>

#include "arch/base/units.hpp"

namespace tilesim::arch::base {

// Products of cycles and femtoseconds a second do not fit in 64 bits.
__extension__ typedef __int128 Int128;

class Clock {
  public:
    explicit constexpr Clock(Hertz frequency)
        : hertz_(frequency.count()),
          femtoseconds_(kFemtosecondsPerSecond / std::gcd(kFemtosecondsPerSecond, hertz_)),
          cycles_(hertz_ / std::gcd(kFemtosecondsPerSecond, hertz_)) {}

    constexpr Hertz frequency() const { return Hertz{hertz_}; }

    // Time of edge `cycle`.
    constexpr Femtoseconds time_of(Cycles cycle) const {
        return Femtoseconds{scale(cycle.count(), femtoseconds_, cycles_, cycles_ - 1)};
    }
    // Number of the last edge at or before `time`.
    constexpr Cycles cycle_at(Femtoseconds time) const {
        return Cycles{scale(time.count(), cycles_, femtoseconds_, 0)};
    }
    // Number of the first edge at or after `time`.
    constexpr Cycles first_cycle_from(Femtoseconds time) const {
        // Edges are rounded up: edge n is the first iff its exact time lies beyond `time` - 1 fs.
        return time.count() == 0 ? Cycles{0}
                                 : Cycles{scale(time.count() - 1, cycles_, femtoseconds_, 0) + 1};
    }

  private:
    static constexpr std::int64_t kFemtosecondsPerSecond = 1'000'000'000'000'000;

    // (count * by + add) / over, in 64 bits where that fits: 128-bit divisions are slow.
    static constexpr std::int64_t scale(std::int64_t count, std::int64_t by, std::int64_t over,
                                        std::int64_t add) {
        std::int64_t sum = 0;
        if (!__builtin_mul_overflow(count, by, &sum) && !__builtin_add_overflow(sum, add, &sum)) {
            return sum / over;
        }
        return static_cast<std::int64_t>((static_cast<Int128>(count) * by + add) / over);
    }

    std::int64_t hertz_;
    // So many femtoseconds are exactly so many cycles: 5,000,000 and 9 at 1.8 GHz.
    std::int64_t femtoseconds_;
    std::int64_t cycles_;
};

}  // namespace tilesim::arch::base
