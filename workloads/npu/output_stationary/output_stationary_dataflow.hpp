// `mapping.output_stationary`: C stays in the cores.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::output_stationary {

const Dataflow& output_stationary_dataflow();

}  // namespace tilesim::workloads::npu::output_stationary
