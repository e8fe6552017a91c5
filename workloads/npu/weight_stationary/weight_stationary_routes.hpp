// The streams of a weight-stationary GEMM.
#pragma once

#include "arch/npu/program/program.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_shape.hpp"

namespace tilesim::workloads::npu::weight_stationary {

void add_routes(arch::npu::program::Program& program, const ArrayShape& shape);

}  // namespace tilesim::workloads::npu::weight_stationary
