// Ports of the stream switches.
//
// Source: Xilinx aie-rt xaie_ss_aieml.c, mlir-aie AIETargetModel; the same on AIE-ML and AIE2P.
#pragma once

#include <cstdint>
#include <string>

#include "arch/npu/npu_config.hpp"

namespace tilesim::arch::npu::stream {

enum class Heading { North, South, East, West };

// Streams a tile's switch can send to its neighbour in a direction.
std::int64_t streams_towards(program::TileKind kind, Heading heading);
// A memory tile passes streams straight through only at equal port index.
bool keeps_index(program::TileKind kind);
program::TileCoordinate neighbour(program::TileCoordinate tile, Heading heading);
Heading opposite(Heading heading);
const char* name_of(Heading heading);
// The switch port a tile's DMA channel hangs on: "dma0"; for shim tiles the South port behind the
// shim multiplexer ("south3"); for a core's own stream port "core0".
std::string dma_port(const program::ChannelId& channel, program::TileKind kind);

}  // namespace tilesim::arch::npu::stream
