// Integer arithmetic on constants, wherever designs write it: arith, index, and the casts of emitc.
#pragma once

#include "workloads/npu/mlir/syntax/scope.hpp"
#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Defines what arith.constant and the integer arithmetic on constants yield; false for other
// operations.
bool define_constant(const Operation& operation, Scope& scope);
// Whether what it defined is known to the core only as it runs.
bool is_computed(const Operation& operation, const Scope& scope);

}  // namespace tilesim::workloads::npu::mlir::syntax
