// `mapping.gotoblas`: five loops around a micro-kernel, on a tile that a stream feeds.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads::npu::gotoblas {

const Dataflow& gotoblas_dataflow();

}  // namespace tilesim::workloads::npu::gotoblas
