// `mapping.offload`: a training step whose matrix products an NPU takes, the rest staying on the
// processor beside it.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::training {

const Dataflow& offload_dataflow();

}  // namespace tilesim::workloads::npu::training
