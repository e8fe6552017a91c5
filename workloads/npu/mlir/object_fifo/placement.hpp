// Where logical tiles go: pinned ones first, then those of a stated column or row, then the free
// ones. Cores column by column from the lowest row up, the first place that suits their cascades;
// where one then needs more DMA channels than it has, free cores change places until those that
// exchange elements share memory. Memory and shim tiles, those with most channels first, go where
// their streams to the cores are shortest, while channels last.
//
// Source:  mlir-aie's pass AIEPlacer. Any legal placement runs; the result says this one.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

// Throws ReadError where none is left.
void place_logical_tiles(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::object_fifo
