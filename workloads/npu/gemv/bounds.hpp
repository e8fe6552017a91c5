// What no run of a matrix-vector mapping beats: the cores' calls, a column's stream, DRAM and the
// way to it.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/matrix_vector.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::gemv {

GemmBounds bounds_of(const MatrixVector& problem, const GemvMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::gemv
