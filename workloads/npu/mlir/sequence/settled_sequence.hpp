// What of a run-time sequence follows only when all of it has been read.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

// Channels of the first generation send no tokens: whoever waits polls until they are idle. Words
// of a parameter array that the sequence never writes hold 0.
void settle_sequence(Lowering& lowering);
// What the host does to locks after the sequence (`design.host`). Throws ReadError.
void add_host_steps(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::sequence
