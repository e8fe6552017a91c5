// Slots of lines, for tables that hold few of them at a time: of a slot in which none is, no line
// need be looked for.
#pragma once

#include <cstdint>

#include "arch/amx/caches/cache.hpp"
#include "arch/base/spread.hpp"

namespace tilesim::arch::amx::caches {

inline constexpr std::size_t kLineSlots = 256;

// Lines of a page lie together.
inline std::size_t slot_of(Line line) {
    return (static_cast<std::size_t>(line) ^ base::spread(line / kLinesPerPage, 8)) % kLineSlots;
}

// What a request that found no room remembers of its line.
struct Refusal {
    std::uint16_t taken = 0;  // lines of its slot, all in all until then
    std::uint8_t slot = 0;
};

}  // namespace tilesim::arch::amx::caches
