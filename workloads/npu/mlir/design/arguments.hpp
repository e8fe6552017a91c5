// The buffers a launch hands over: how large they are, and where they lie.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

// They become as large as the sequence's transfers need them.
void grow_arguments(Lowering& lowering);
// Once their sizes are known.
void place_external_buffers(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::design
