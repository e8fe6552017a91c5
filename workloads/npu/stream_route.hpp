// Streams of a program a dataflow lowers to, and the ends of their channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

inline arch::npu::program::ChannelId sends(arch::npu::program::TileCoordinate tile,
                                           std::int64_t channel) {
    return {tile, arch::npu::program::Direction::MM2S, channel};
}
inline arch::npu::program::ChannelId takes(arch::npu::program::TileCoordinate tile,
                                           std::int64_t channel) {
    return {tile, arch::npu::program::Direction::S2MM, channel};
}

// A circuit from one channel to another, or to several; its path is the router's.
arch::npu::program::Route& add_route(arch::npu::program::Program& program, std::string name,
                                     arch::npu::program::ChannelId from,
                                     std::vector<arch::npu::program::ChannelId> to);

}  // namespace tilesim::workloads::npu
