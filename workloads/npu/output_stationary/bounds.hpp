// What no run of an output-stationary mapping beats: the cores' calls, their streams, DRAM and the
// way to it. Source of the formulas: Taka et al. (output_stationary.hpp).
#pragma once

#include "arch/npu/npu_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/memory_path.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::output_stationary
