// What a call of a core costs: as the side file states it, or the time its operands need.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

// The number of the program's kernel that a call of this function is; new where there is none yet.
std::int64_t called_kernel(Lowering& lowering, const std::string& symbol, const Operation& call);
// Cycles in which a core reads so many bytes through all its load ports: no kernel that reads its
// operands from memory takes less.
std::int64_t through_load_ports(const Lowering& lowering, std::int64_t bytes);

}  // namespace tilesim::workloads::npu::mlir::core
