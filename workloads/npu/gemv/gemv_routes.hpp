// The streams of a matrix-vector product.
#pragma once

#include "arch/npu/program/program.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/gemv_shape.hpp"

namespace tilesim::workloads::npu::gemv {

void add_routes(arch::npu::program::Program& program, const GemvShape& shape,
                const GemvMapping& mapping);

}  // namespace tilesim::workloads::npu::gemv
