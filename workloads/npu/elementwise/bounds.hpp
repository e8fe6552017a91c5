// What no run of an elementwise mapping beats: the cores' calls, a column's stream, DRAM and the
// way to it.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/elementwise/elementwise_mapping.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::elementwise {

GemmBounds bounds_of(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::elementwise
