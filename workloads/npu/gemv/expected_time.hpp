// What a matrix-vector mapping is expected to take: for the order of mappings, excludes none.
//
// Models:  tasks given one after the other by the command processor; what buffers take ahead of the
//          vector and of the results' tasks; columns that share the link to memory; the last rows'
//          way through memory tile, core and out.
// Ignores: start-up of streams, bank conflicts, the shim's queue.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/matrix_vector.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::gemv {

// Nanoseconds from the first command to the last result.
double expected_ns(const MatrixVector& problem, const GemvMapping& mapping,
                   const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::gemv
