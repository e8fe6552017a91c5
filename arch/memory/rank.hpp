// Which of several commands a scheduler issues first: the one that can go first, of those that can
// go together the one of the oldest burst.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "arch/memory/memory_config.hpp"

namespace tilesim::arch::memory {

// A burst's order, lower is older, and the number of its bank in one.
class Age {
  public:
    Age() = default;
    Age(std::uint64_t order, std::size_t bank) : value_(order * kMaxBanks + bank) {}
    std::size_t bank() const { return value_ % kMaxBanks; }
    // This age with the bits of `mask` from the other one.
    Age blend(Age other, std::uint64_t mask) const {
        other.value_ = value_ ^ ((value_ ^ other.value_) & mask);
        return other;
    }
    auto operator<=>(const Age&) const = default;

  private:
    std::uint64_t value_ = UINT64_MAX;
};

struct Rank {
    std::int64_t when = INT64_MAX;  // CK
    Age age;

    bool before(const Rank& other) const {
        return when < other.when || (when == other.when && age < other.age);
    }
    // Becomes the other where that is before it; without a branch, which nobody could predict.
    void advance_to(const Rank& other) {
        const auto sooner = -static_cast<std::int64_t>(other.when < when);
        const auto as_soon = -static_cast<std::int64_t>(other.when == when);
        const auto older = -static_cast<std::int64_t>(other.age < age);
        const std::int64_t taken = sooner | (as_soon & older);
        when ^= (when ^ other.when) & taken;
        age = age.blend(other.age, static_cast<std::uint64_t>(taken));
    }
};

}  // namespace tilesim::arch::memory
