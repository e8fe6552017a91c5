// A set of a channel's banks is a number: a bit for each bank in it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tilesim::arch::memory::device {

// Calls `action(bank)` for every bank whose bit is set.
template <class Action>
void for_each_bank(std::uint64_t banks, Action action) {
    for (; banks != 0; banks &= banks - 1) {
        action(static_cast<std::size_t>(std::countr_zero(banks)));
    }
}

}  // namespace tilesim::arch::memory::device
