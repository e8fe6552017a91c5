// Slots of a core's own (memref.alloca without dimensions, as the compiler since October 2026 keeps
// the elements of object FIFOs in turn) as values that blocks hand to each other.
//
// Models:  what LLVM makes of them (SROA, mem2reg): registers, whose loads and stores cost nothing.
// Ignores: slots that anything but a load or a store of theirs names: they stay memory.
#pragma once

#include <vector>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

void hand_on_slots(std::vector<FlatBlock>& blocks);

}  // namespace tilesim::workloads::npu::mlir::control_flow
