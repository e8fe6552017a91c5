// Products whose sums a launch of their own casts, as a dataflow: mapping.fused_cast.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::fused_cast {

const Dataflow& fused_cast_dataflow();

}  // namespace tilesim::workloads::npu::fused_cast
