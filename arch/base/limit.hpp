// Limits and how near to them a run came.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilesim::arch::base {

// Whether a limit that so much was needed of could be a tenth lower, one at least, and not bind.
constexpr bool spares(std::int64_t limit, std::int64_t most) {
    constexpr std::int64_t kTenth = 10;
    return most + std::max<std::int64_t>(1, (limit + kTenth / 2) / kTenth) <= limit;
}

}  // namespace tilesim::arch::base
