// Tiles, buffers, locks and names of the device; places and ids for those that have none.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

void lower_storage(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::design
