// The register writes of a configuration (a decompiled CDO) as what the array begins with: locks,
// descriptors, tasks.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::registers {

void lower_configuration(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::registers
