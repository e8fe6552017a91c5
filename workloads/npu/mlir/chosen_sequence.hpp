// Which run-time sequence of a device is run: the one `design.sequence` names, or the first.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir {

// nullptr where the device has none. Throws ReadError where none has that name.
const Operation* sequence_of(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir
