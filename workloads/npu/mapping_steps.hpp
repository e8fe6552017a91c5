// What searches of mappings try: parts of an array, on which fewer transfers are started, and
// tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>

#include "arch/base/units.hpp"

namespace tilesim::workloads::npu {

// Of `all` columns or rows, most first: all, their half, a quarter and so on, and the powers of
// two, which arrays with fewer of them have, too.
inline std::set<std::int64_t, std::greater<>> parts_of(std::int64_t all) {
    std::set<std::int64_t, std::greater<>> parts;
    for (std::int64_t part = all; part >= 1; part /= 2) {
        parts.insert(part);
    }
    for (std::int64_t part = 1; part < all; part *= 2) {
        parts.insert(part);
    }
    return parts;
}

inline constexpr std::int64_t kTileStep = 16;  // a multiple of two mmul blocks of every type

// The largest tile to try where so many cores share the extent: larger ones are padding alone.
inline std::int64_t most_tile(std::int64_t extent, std::int64_t cores, std::int64_t step) {
    constexpr std::int64_t kMost = 256;
    return std::min(kMost, arch::base::ceil_div(arch::base::ceil_div(extent, cores), step) * step);
}

inline constexpr std::int64_t kFineStep = 8;  // a multiple of every type's mmul block

// The least tile of whole steps with which so many cover the extent.
inline std::int64_t covering_tile(std::int64_t extent, std::int64_t tiles,
                                  std::int64_t step = kFineStep) {
    return arch::base::ceil_div(arch::base::ceil_div(extent, tiles), step) * step;
}

}  // namespace tilesim::workloads::npu
