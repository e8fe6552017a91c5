// Attributes of an operation that nobody here knows: newer compilers and forks have some.
#pragma once

#include <set>
#include <string_view>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir {

// Says of each that it is left out.
void note_unknown_attributes(Lowering& lowering, const Operation& operation,
                             const std::set<std::string_view>& known);

}  // namespace tilesim::workloads::npu::mlir
