// The matrix-vector product on an array, lowered to a program: rows of the matrix over columns and
// cores.
//
// Every core keeps the vector, or gets it anew with each call, and multiplies a few rows at a time
// as they come from DRAM; the results of `rows_per_core` rows leave together. The matrix is read
// once and in order, so a column's stream or DRAM is what limits. The matrix comes straight from
// the shim, or through the memory tile of the column, which hands the parts of a panel to its cores
// and joins their results. The shim's other stream carries the vector. A row is its elements and,
// for quantised weights, their scale factors behind them.
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/gemv_shape.hpp"
#include "workloads/npu/gemv/matrix_vector.hpp"

namespace tilesim::workloads::npu::gemv {

struct LoweredGemv {
    arch::npu::program::Program program;
    GemvShape shape;
    std::int64_t core_bytes = 0;  // of a core's memory that is used, stack included
};

// Throws ConfigError with what `problems_of` (mapping_problems.hpp) says.
LoweredGemv lower(const MatrixVector& problem, const GemvMapping& mapping,
                  const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::gemv
