// Where a core's body is: in its own file, or, where cores are in ELF files, in the one beside it.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

// The same core in the file with the bodies; nullptr where there is none.
const Operation* body_elsewhere(const Lowering& lowering, const Operation& core);

}  // namespace tilesim::workloads::npu::mlir::core
