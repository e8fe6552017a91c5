// What an elementwise mapping is expected to take: for the order of mappings, excludes none.
//
// Models:  the columns' tasks given one after the other, then the last column's rows, through its
//          port, its stream or its core; or all columns' rows over what they share.
// Ignores: bank conflicts, buffers that run ahead.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/elementwise/elementwise_mapping.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::elementwise {

// Nanoseconds from the first task to the last row.
double expected_ns(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                   const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::elementwise
