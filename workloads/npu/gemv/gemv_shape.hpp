// How a matrix-vector product lies on the array: its rows on columns and cores, the channels its
// streams use, what a shim's descriptors move, and the bytes of its buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/matrix_vector.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::gemv {

// Channels of shims, cores and memory tiles.
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

    // Where its columns lie on the array.
    ShimColumns places;

    arch::npu::program::TileCoordinate shim(std::int64_t column) const {
        return {places[column], 0};
    }
    arch::npu::program::TileCoordinate memory_tile(std::int64_t column) const {
        return {places[column], 1};
    }
    arch::npu::program::TileCoordinate core(std::int64_t column, std::int64_t row) const {
        return {places[column], first_core_row + row};
    }
    std::int64_t cores() const { return columns * rows; }
    std::int64_t calls() const { return core_rows / call_rows; }    // of a step
    std::int64_t column_rows() const { return rows * core_rows; }   // of the matrix, a step
    std::int64_t step_rows() const { return cores() * core_rows; }  // of the matrix, all columns
    std::int64_t padded_m() const { return steps * step_rows(); }
    std::int64_t tasks() const { return arch::base::ceil_div(steps, reach); }  // of a stream
    // A memory tile's channels.
    std::int64_t memory_in_y(std::int64_t row) const { return kMemoryInA + 1 + row; }
    std::int64_t memory_out_y() const { return rows; }
};
GemvShape shape_of(const MatrixVector& problem, const GemvMapping& mapping,
                   const arch::npu::NpuConfig& config);

// Words from a column's rows of one step to those of the next, where columns take them in turn.
std::int64_t step_words(const GemvShape& shape);

// Steps a shim's descriptor can move: its offset advances from run to run, and the vector is
// repeated for every call.
std::int64_t most_reach(const GemvMapping& mapping, const GemvShape& shape,
                        const arch::npu::NpuConfig& config);

// Bytes of each buffer of a core, A's first, then X's and Y's.
std::vector<std::int64_t> core_buffers(const MatrixVector& problem, const GemvMapping& mapping,
                                       const GemvShape& shape);

// Bytes of all panels and results in a memory tile.
std::int64_t memory_tile_bytes(const MatrixVector& problem, const GemvMapping& mapping,
                               const GemvShape& shape);

}  // namespace tilesim::workloads::npu::gemv
