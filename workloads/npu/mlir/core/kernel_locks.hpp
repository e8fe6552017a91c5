// What kernels do with locks they are given, whose code is not in the file: they wait for those
// that a channel releases, work, and release those that a channel acquires, once a call.
#pragma once

#include <cstdint>
#include <limits>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

// Until then its script has operations of this value.
constexpr std::int64_t kGivenLock = std::numeric_limits<std::int64_t>::min();
void settle_kernel_locks(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::core
