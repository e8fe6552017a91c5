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
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::gemv {

// y = A x, as a GEMV or a GEMM of one row states it.
struct MatrixVector {
    std::int64_t m = 0, k = 0;
    arch::npu::DataType a = arch::npu::DataType::Bf16;  // the matrix
    arch::npu::DataType x = arch::npu::DataType::Bf16;
    arch::npu::DataType y = arch::npu::DataType::Bf16;
    std::int64_t scale_block = 0;

    double macs() const { return static_cast<double>(m) * static_cast<double>(k); }
};

// Channels.
inline constexpr std::int64_t kShimA = 0, kShimX = 1, kShimY = 0;
inline constexpr std::int64_t kCoreA = 0, kCoreX = 1, kCoreY = 0;
inline constexpr std::int64_t kMemoryInA = 0;

struct GemvShape {
    std::int64_t columns = 0, rows = 0;
    std::int64_t first_core_row = 2;
    std::int64_t k = 0;          // elements of a row, as it is stored
    std::int64_t row_bytes = 0;  // of the matrix
    std::int64_t call_rows = 0;  // of a kernel call
    std::int64_t core_rows = 0;  // of a core's results
    std::int64_t steps = 0;      // core_rows rows of every core
    std::int64_t reach = 1;      // steps of a shim's descriptor
    std::int64_t slots = 1;      // descriptors of each stream in a shim

    arch::npu::program::TileCoordinate core(std::int64_t column, std::int64_t row) const {
        return {column, first_core_row + row};
    }
    std::int64_t cores() const { return columns * rows; }
    std::int64_t calls() const { return core_rows / call_rows; }    // of a step
    std::int64_t column_rows() const { return rows * core_rows; }   // of the matrix, a step
    std::int64_t step_rows() const { return cores() * core_rows; }  // of the matrix, all columns
    std::int64_t padded_m() const { return steps * step_rows(); }
    // A memory tile's channels.
    std::int64_t memory_in_y(std::int64_t row) const { return kMemoryInA + 1 + row; }
    std::int64_t memory_out_y() const { return rows; }
};
GemvShape shape_of(const MatrixVector& problem, const GemvMapping& mapping,
                   const arch::npu::NpuConfig& config);

struct LoweredGemv {
    arch::npu::program::Program program;
    GemvShape shape;
    std::int64_t core_bytes = 0;
};

// Why the mapping cannot run; empty when it can.
std::vector<std::string> problems_of(const MatrixVector& problem, const GemvMapping& mapping,
                                     const arch::npu::NpuConfig& config);
// Throws ConfigError with these.
LoweredGemv lower(const MatrixVector& problem, const GemvMapping& mapping,
                  const arch::npu::NpuConfig& config);

// The kernel all cores call.
arch::npu::program::Kernel matvec_kernel(const MatrixVector& problem, std::int64_t rows,
                                         std::int64_t k);

GemmBounds bounds_of(const MatrixVector& problem, const GemvMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::gemv
