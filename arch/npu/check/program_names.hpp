// How problems name the parts of a program.
#pragma once

#include <fmt/format.h>

#include <string>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

inline std::string tile_name(program::TileCoordinate tile) {
    return fmt::format("tile {},{}", tile.column, tile.row);
}
inline auto channel_name(const program::ChannelId& id) {
    return OnDemand{[&id] { return fmt::format("{} {}", tile_name(id.tile), name_of(id)); }};
}
inline const std::string& lock_name(const program::Program& program, std::int64_t lock) {
    return program.locks[static_cast<std::size_t>(lock)].name;
}

}  // namespace tilesim::arch::npu::check
