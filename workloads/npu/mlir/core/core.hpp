// Core bodies as scripts: lock operations and kernel calls stay, everything between them becomes
// its time.
//
// Models:  control flow as flow_walker.hpp follows it; scalar instructions in order, one a cycle,
//          waiting for their operands; loops without events as one block of work.
// Ignores: what is computed; vectorisation and software pipelining by the compiler; instruction
//          fetch.
// Source:  latencies in InlineCosts.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

void lower_cores(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::core
