// Quantities with a dimension: integers that neither mix nor convert silently.
//
// A Quantity holds a 64-bit count of its unit; `.count()` is the only way out. The arithmetic that
// makes sense is here (adding like to like, scaling, ratio of two like quantities); the rest does
// not compile. Rounding happens in one place: `transfer_time` and `ceil_div`.
#pragma once

#include <compare>
#include <cstdint>

namespace tilesim::arch::base {

template <class Tag>
class Quantity {
  public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(std::int64_t count) : count_(count) {}

    constexpr std::int64_t count() const { return count_; }

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity operator-() const { return Quantity{-count_}; }
    constexpr Quantity& operator+=(Quantity other) {
        count_ += other.count_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other) {
        count_ -= other.count_;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) {
        return Quantity{a.count_ + b.count_};
    }
    friend constexpr Quantity operator-(Quantity a, Quantity b) {
        return Quantity{a.count_ - b.count_};
    }
    friend constexpr Quantity operator*(Quantity a, std::int64_t k) {
        return Quantity{a.count_ * k};
    }
    friend constexpr Quantity operator*(std::int64_t k, Quantity a) {
        return Quantity{a.count_ * k};
    }
    friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }

  private:
    std::int64_t count_ = 0;
};

// Cycles of the clock of the component that holds them.
using Cycles = Quantity<struct CyclesTag>;
using Bytes = Quantity<struct BytesTag>;
using BytesPerCycle = Quantity<struct BytesPerCycleTag>;
// Simulated time; what travels between clock domains. 2^63 fs is 2.5 hours.
using Femtoseconds = Quantity<struct FemtosecondsTag>;
using Hertz = Quantity<struct HertzTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using OperationsPerSecond = Quantity<struct OperationsPerSecondTag>;

inline constexpr Femtoseconds kNever{INT64_MAX};

// Scales of what files and results state: shares in percent or permille, times in ns.
inline constexpr double kPercent = 100;
inline constexpr double kPermille = 1000;
inline constexpr double kNanosecondsPerSecond = 1e9;
inline constexpr double kNanosecondsPerMicrosecond = 1e3;
inline constexpr double kFemtosecondsPerNanosecond = 1e6;

// For reports and estimates; between models times stay whole femtoseconds.
constexpr double ns_of(Femtoseconds time) {
    return static_cast<double>(time.count()) / kFemtosecondsPerNanosecond;
}
constexpr double ns_of(Cycles cycles, Hertz clock) {
    return static_cast<double>(cycles.count()) * kNanosecondsPerSecond /
           static_cast<double>(clock.count());
}

// The smallest integer not below a / b; a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// Cycles that `bytes` occupy a port of the given width: 65 B at 16 B/cycle take 5.
constexpr Cycles transfer_time(Bytes bytes, BytesPerCycle width) {
    return Cycles{ceil_div(bytes.count(), width.count())};
}

namespace literals {
constexpr Cycles operator""_cyc(unsigned long long n) {
    return Cycles{static_cast<std::int64_t>(n)};
}
constexpr Bytes operator""_B(unsigned long long n) {
    return Bytes{static_cast<std::int64_t>(n)};
}
constexpr Femtoseconds operator""_fs(unsigned long long n) {
    return Femtoseconds{static_cast<std::int64_t>(n)};
}
constexpr Femtoseconds operator""_ps(unsigned long long n) {
    return Femtoseconds{static_cast<std::int64_t>(n) * 1'000};
}
constexpr Femtoseconds operator""_ns(unsigned long long n) {
    return Femtoseconds{static_cast<std::int64_t>(n) * 1'000'000};
}
}  // namespace literals

}  // namespace tilesim::arch::base
