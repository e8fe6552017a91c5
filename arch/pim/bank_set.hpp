// Which of a channel's banks a command goes to: all at once, every other one (where two share a
// unit), or one alone.
#pragma once

#include <cstdint>
#include <vector>

namespace tilesim::arch::pim {

struct BankSet {
    static constexpr std::int64_t kAll = -1;
    static constexpr std::int64_t kEven = -2;
    static constexpr std::int64_t kOdd = -3;
    std::int64_t which = kAll;  // or the number of a bank

    bool all() const { return which == kAll; }
    bool one() const { return which >= 0; }
    bool holds(std::int64_t bank) const {
        return all() || which == bank || (!one() && bank % 2 == (which == kOdd ? 1 : 0));
    }
    // Calls `action` with the number of each of them, of `count` that there are in all.
    template <class Action>
    void for_each(std::int64_t count, Action action) const {
        const std::int64_t first = one() ? which : which == kOdd ? 1 : 0;
        const std::int64_t step = one() ? count : all() ? 1 : 2;
        for (std::int64_t bank = first; bank < count; bank += step) {
            action(bank);
        }
    }
    bool operator==(const BankSet&) const = default;
};

// The sets of banks that work together, one after the other: a unit multiplies for one of its banks
// at a time.
inline std::vector<BankSet> turns_of(std::int64_t banks_per_unit) {
    return banks_per_unit == 1 ? std::vector<BankSet>{{}}
                               : std::vector<BankSet>{{BankSet::kEven}, {BankSet::kOdd}};
}

}  // namespace tilesim::arch::pim
