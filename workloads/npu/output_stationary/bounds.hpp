// The analytical bounds of an output-stationary GEMM.
#pragma once

#include "workloads/bounds.hpp"
#include "workloads/npu/memory_path.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::output_stationary
