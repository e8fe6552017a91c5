// Matrix-vector products on an array, beside the other dataflows.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::gemv {

const Dataflow& gemv_dataflow();

}  // namespace tilesim::workloads::npu::gemv
