// What lies behind the shim tiles of a sequence whose array nobody sets up (a part of a design, a
// sequence read back from a binary): memory tiles that take and give whatever streams can carry.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

// Where the program has a sequence that starts shim channels, and neither streams nor transfers
// nor cores: a stand-in behind these channels. What the sequence does to other tiles, and waits for
// what it does not start, are left out.
void stand_in_for_array(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::design
