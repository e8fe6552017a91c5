// `workload.elementwise` and the dataflow that runs it, beside the others.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::elementwise {

const ProblemKind& elementwise_kind();
const Dataflow& elementwise_dataflow();

}  // namespace tilesim::workloads::npu::elementwise
