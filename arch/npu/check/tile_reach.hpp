// Which tiles' memories and locks a tile's agents reach.
//
// Source: Xilinx mlir-aie AIETargetModel, AMD AM020. AIE-ML and AIE2P: a core's DMA its own tile, a
// memory tile's DMA also the memory tiles east and west (on some channels), a core its own tile and
// the cores south, west and north of it. AIE1: in even rows the core east instead of west.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

inline bool dma_reaches(const NpuConfig& config, program::TileCoordinate from,
                        program::TileCoordinate to) {
    const std::int64_t east = to.column - from.column;
    return from == to || (config.kind_of(from) == program::TileKind::Memory && from.row == to.row &&
                          (east == 1 || east == -1));
}

inline bool core_reaches(const NpuConfig& config, program::TileCoordinate from,
                         program::TileCoordinate to) {
    const bool east = config.core.alternating_sides && from.row % 2 == 0;
    const bool beside = to.row == from.row && to.column == from.column + (east ? 1 : -1);
    const bool above_or_below =
        to.column == from.column && (to.row == from.row + 1 || to.row == from.row - 1);
    return config.kind_of(to) == program::TileKind::Core &&
           (from == to || beside || above_or_below);
}

}  // namespace tilesim::arch::npu::check
