// Tiles, buffers, locks and names of the device; places and ids for those that have none.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

void lower_storage(Lowering& lowering);
// Arguments become as large as the sequence's transfers need them.
void grow_arguments(Lowering& lowering);
// Once their sizes are known.
void place_external_buffers(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::design
