// Gives buffers without an address one.
//
// In a core's memory consecutive buffers go to consecutive banks, in turn, so that the two of a
// double buffer lie in different ones, as mlir-aie does; the stack keeps the bottom of bank 0. A
// buffer larger than a bank, or one for which no bank has room left, takes the first gap that holds
// it. In a memory tile, whose banks are interleaved, every buffer takes the first gap.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// Throws ConfigError, naming the buffer and what the tile's memory holds, when one finds no place.
void place_buffers(program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
