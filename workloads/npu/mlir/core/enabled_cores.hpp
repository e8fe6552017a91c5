// When cores begin: the loader enables them one after the other, in the order the design states
// their tiles.
//
// Models:  a register write of the command processor from one core to the next.
// Ignores: what else the loader writes between them, all of it before the run-time sequence; its
//          time for a write of a configuration is not published.
// Source:  mlir-aie, lib/Targets/AIERT.cpp (addCoreEnable).
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

// Of a program whose cores all have scripts.
void enable_cores(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::core
