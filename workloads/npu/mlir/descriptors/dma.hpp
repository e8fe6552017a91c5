// aie.mem, aie.memtile_dma and aie.shim_dma regions: descriptors, and the tasks queued at start.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

void lower_dmas(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::descriptors
