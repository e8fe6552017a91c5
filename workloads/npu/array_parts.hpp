// The parts of an array that searches of mappings try: on a part, fewer transfers are started.
#pragma once

#include <cstdint>
#include <functional>
#include <set>

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

}  // namespace tilesim::workloads::npu
