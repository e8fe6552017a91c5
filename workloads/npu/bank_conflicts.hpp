// What calls of a kernel lose where buffers of both its operands lie in the same banks of a core.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

// Cycles of calls that take the buffers of A and B in turn.
struct BankConflicts {
    double mean = 0;
    double most = 0;  // of any of them
};

// The buffers lie at these addresses.
BankConflicts bank_conflicts(const arch::npu::NpuConfig& config,
                             const arch::npu::program::Kernel& kernel,
                             const std::vector<std::int64_t>& a,
                             const std::vector<std::int64_t>& b);

}  // namespace tilesim::workloads::npu
