// Which of a channel's banks a command goes to: all at once, every other one (where two share a
// unit), or one alone.
#pragma once

#include <cstdint>

namespace tilesim::arch::pim {

struct BankSet {
    static constexpr std::int64_t kAll = -1;
    static constexpr std::int64_t kEven = -2;
    static constexpr std::int64_t kOdd = -3;
    std::int64_t which = kAll;  // or the number of a bank

    bool all() const { return which == kAll; }
    bool one() const { return which >= 0; }
    bool operator==(const BankSet&) const = default;
};

}  // namespace tilesim::arch::pim
