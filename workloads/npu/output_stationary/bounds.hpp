// The analytical bounds of an output-stationary GEMM.
#pragma once

#include "arch/memory/device/memory_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config,
                     const arch::memory::device::MemoryConfig& memory);

}  // namespace tilesim::workloads::npu::output_stationary
