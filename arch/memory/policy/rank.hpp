// Which of several commands a scheduler issues first: the one that can go first, of those that can
// go together the one of the oldest burst.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "arch/base/check.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::policy {

// A burst's order, lower is older, and the number of its bank in one.
class Age {
  public:
    static constexpr unsigned kBits = 44;
    static constexpr std::int64_t kOrders = (std::int64_t{1} << kBits) / device::kMaxBanks;

    Age() = default;  // nobody's, younger than every other
    // `order` from 0 to below kOrders.
    Age(std::int64_t order, std::size_t bank)
        : value_(order * static_cast<std::int64_t>(device::kMaxBanks) +
                 static_cast<std::int64_t>(bank)) {}
    std::size_t bank() const { return static_cast<std::size_t>(value_) % device::kMaxBanks; }
    auto operator<=>(const Age&) const = default;

  private:
    friend class FirstRank;
    explicit Age(std::int64_t value) : value_(value) {}
    std::int64_t value_ = (std::int64_t{1} << kBits) - 1;
};

struct Rank {
    std::int64_t when = INT64_MAX;  // CK
    Age age;

    bool before(const Rank& other) const {
        return when < other.when || (when == other.when && age < other.age);
    }
};

// Finds the first of several ranks, of which none can be before CK `from`. No branch depends on
// which of them it is: nobody could predict it, and the host would lose more time on that than on
// everything else here.
class FirstRank {
  public:
    explicit FirstRank(std::int64_t from) : from_(from) {}

    // A command of this age can go at CK `when`, or at `from` if that is later.
    void consider(std::int64_t when, Age age) {
        const std::int64_t wait = std::max<std::int64_t>(when - from_, 0);
        SIM_DCHECK(wait < kLongestWait, "a DRAM command is to wait for {} CK", wait);
        first_ = std::min(first_, wait << Age::kBits | age.value_);
    }
    // Of those considered, at least one.
    Rank rank() const {
        return {from_ + (first_ >> Age::kBits),
                Age(first_ & ((std::int64_t{1} << Age::kBits) - 1))};
    }

  private:
    static constexpr std::int64_t kLongestWait = std::int64_t{1} << (63 - Age::kBits);
    // The longest are from a WR to a RD or PRE: latency, data and what has to follow them.
    static_assert(3 * device::kLongestConstraint < kLongestWait);

    std::int64_t from_;
    std::int64_t first_ = INT64_MAX;  // its wait after `from_` and its age in one
};

}  // namespace tilesim::arch::memory::policy
