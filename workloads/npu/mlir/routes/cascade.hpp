// Cascades between cores: aie.cascade_flow, or the two ends aie.configure_cascade selects; where
// neither is stated, the wires a core that puts words has anyway.
//
// Source:  AM009 (AIE1: a snake through the rows), aie-rt (AIE-ML: after reset from the core north
//          to the one south), mlir-aie's pass lower-cascade-flows.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::routes {

void lower_cascades(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::routes
