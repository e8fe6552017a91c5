// Spreads numbers that lie next to each other, or a power of two apart, over 2^bits places alike.
//
// Source: Knuth, "The Art of Computer Programming", volume 3, section 6.4 (Fibonacci hashing).
#pragma once

#include <cstdint>

#include "arch/base/splitmix64.hpp"

namespace tilesim::arch::base {

// The highest bits of the product depend on all bits of the number; `bits` is 1 to 64.
constexpr std::uint64_t spread(std::int64_t number, unsigned bits) {
    constexpr unsigned kAll = 64;
    return static_cast<std::uint64_t>(number) * kSplitmixStep >> (kAll - bits);
}

}  // namespace tilesim::arch::base
