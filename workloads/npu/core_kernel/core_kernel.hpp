// `workload.core_kernel`: one kernel call on one core alone, its operands already in its memory or
// waiting on its streams.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::core_kernel {

const ProblemKind& core_kernel_kind();
const Dataflow& core_kernel_dataflow();

}  // namespace tilesim::workloads::npu::core_kernel
