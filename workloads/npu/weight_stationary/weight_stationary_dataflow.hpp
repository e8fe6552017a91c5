// `mapping.weight_stationary`: B stays in the cores.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::weight_stationary {

const Dataflow& weight_stationary_dataflow();

}  // namespace tilesim::workloads::npu::weight_stationary
