// Structured control flow (scf, affine.for) as blocks that branch, as convert-scf-to-cf writes
// them.
//
// Source:  the semantics of MLIR's scf and cf dialects.
#pragma once

#include <vector>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

// The blocks of a region; the first is where it begins. Values of inner regions get names of their
// own, so that each is defined once. Throws ReadError.
std::vector<FlatBlock> flattened(const Item& region);

}  // namespace tilesim::workloads::npu::mlir::control_flow
