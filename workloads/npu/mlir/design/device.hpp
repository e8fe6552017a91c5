// One device of a design, all parts of it in their order.
#pragma once

#include <functional>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

// Everything but the sequence. `routed`: as lower_routes. `run`: the sequence, in its place.
void lower_device(Lowering& lowering, const Operation& routed, const std::function<void()>& run);

}  // namespace tilesim::workloads::npu::mlir::design
