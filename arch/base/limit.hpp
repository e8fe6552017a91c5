// Limits and how near to them a run came.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilesim::arch::base {

// A tenth of a limit, one at least.
constexpr std::int64_t tenth_of(std::int64_t limit) {
    constexpr std::int64_t kTenth = 10;
    return std::max<std::int64_t>(1, (limit + kTenth / 2) / kTenth);
}

// Whether a limit that so much was needed of could be a tenth lower, one at least, and not bind.
constexpr bool spares(std::int64_t limit, std::int64_t most) {
    return most + tenth_of(limit) <= limit;
}

}  // namespace tilesim::arch::base
