// The analytical bounds of an output-stationary GEMM, and the mapping they would choose.
#pragma once

#include "arch/memory/device/memory_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const LoweredGemm& lowered, const arch::npu::NpuConfig& config,
                     const arch::memory::device::MemoryConfig& memory);

// The same before lowering: for searches that look at many mappings.
GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config, const arch::memory::device::MemoryConfig& memory);

// A mapping for a scenario that states none: the one with the least bound among tiles that fit,
// found by enumeration over multiples of the mmul blocks. Throws ConfigError when none fits.
OutputStationaryMapping choose_mapping(const GemmProblem& problem,
                                       const arch::npu::NpuConfig& config,
                                       const arch::memory::device::MemoryConfig& memory);

}  // namespace tilesim::workloads::npu::output_stationary
