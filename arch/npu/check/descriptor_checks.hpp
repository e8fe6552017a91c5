// Static checks of buffer descriptors.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// What is wrong with a descriptor of this tile, one sentence each. Checks: id, length, steps,
// wraps, iteration, padding, packet and bursts within the tile's fields; locks in reach; the
// transfer inside its buffer.
std::vector<std::string> check_descriptor(const program::Program& program, const NpuConfig& config,
                                          program::TileCoordinate tile,
                                          const program::BufferDescriptor& descriptor);
// The same where a channel executes it: ids, padding, and what lies in its reach.
std::vector<std::string> check_use(const program::Program& program, const NpuConfig& config,
                                   const program::ChannelId& channel,
                                   const program::BufferDescriptor& descriptor);

}  // namespace tilesim::arch::npu::check
