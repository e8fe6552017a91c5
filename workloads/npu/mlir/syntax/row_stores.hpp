// Rows that a core keeps on a memory tile (aie.memtile_row_store, of a fork of mlir-aie): it gives
// them part by part and takes them back.
//
// Models:  what aie-lower-memtile-row-stores makes of one: an object FIFO from the core, whose
//          element on the memory tile is a whole row, and one back, linked.
// Source:  AIELowerMemtileRowStores.cpp of kurtis-b/mlir-aie.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// In every device. Throws ReadError where a store is malformed.
void write_row_stores_as_fifos(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
