// How the weight-stationary dataflow lies on an array: which core holds which part of B, and the
// DMA channels and buffers of every tile.
//
// Slice s of K belongs to one row of cores, the first to the northernmost, because the cascade
// runs south. The A tiles of a slice are broadcast along its row from the memory tile of one
// column. B tiles come to every core from the memory tile of its column, on a stream of its own or,
// where the memory tile has not channels enough, as packets on one it shares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/shim_columns.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_mapping.hpp"

namespace tilesim::workloads::npu::weight_stationary {

// Blocks of B of every row in a memory tile: one is sent while the next arrives.
inline constexpr std::int64_t kBlocksOfB = 2;
// Parts of C an adding core has room for: one is added while the next arrives.
inline constexpr std::int64_t kPartsInAdder = 2;

// Channels of the tiles. A memory tile has further ones: `ArrayShape`.
inline constexpr std::int64_t kShimA = 0, kShimB = 1, kShimC = 0;
inline constexpr std::int64_t kMemoryInA = 0, kMemoryInB = 1, kMemoryInC = 2, kMemoryOutC = 0;
inline constexpr std::int64_t kCoreA = 0, kCoreB = 1, kCoreC = 0;
inline constexpr std::int64_t kAdderIn = 0, kAdderOut = 0;

// Slices of K that follow each other.
struct SliceSpan {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

// Bytes of the tiles; that of C in whole words of the cascade.
struct TileSizes {
    std::int64_t a = 0, b = 0, c = 0;
};
TileSizes tile_sizes(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config);

// Where B and the buffers of A lie in a core with one buffer of C: one behind the other, the first
// of B, A and C before the second of any.
struct CorePlaces {
    std::int64_t b = 0;
    std::vector<std::int64_t> a;
};
CorePlaces core_places(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                       const arch::npu::NpuConfig& config);

struct ArrayShape {
    std::int64_t columns = 0;
    std::int64_t rows = 0;  // of cores that multiply: slices of K
    bool adds = false;      // one more core of each column, north of the others, adds
    std::int64_t first_core_row = 2;
    std::int64_t m_tiles = 0;         // of C, that one tile of B is used for
    std::int64_t passes = 0;          // over A, each with other tiles of B
    std::int64_t m_tiles_a_task = 0;  // most of them in a task of a shim
    std::int64_t b_streams = 1;       // from a memory tile to the cores of its column

    // Where its columns lie on the array.
    ShimColumns places;

    arch::npu::program::TileCoordinate tile(std::int64_t column, std::int64_t row) const {
        return {places[column], row};
    }
    arch::npu::program::TileCoordinate core(std::int64_t column, std::int64_t slice) const {
        return tile(column, first_core_row + rows - 1 - slice);
    }
    arch::npu::program::TileCoordinate adder(std::int64_t column) const {
        return tile(column, first_core_row + rows);
    }
    // Of a stream of A or C in a shim.
    std::int64_t tasks() const { return passes * arch::base::ceil_div(m_tiles, m_tiles_a_task); }
    bool first_slice(std::int64_t slice) const { return slice == 0; }
    bool last_slice(std::int64_t slice) const { return slice == rows - 1; }
    // Slices whose A comes through the column's shim and memory tile; none in some columns where
    // there are more columns than rows.
    SliceSpan slices_of(std::int64_t column) const;
    std::int64_t most_slices() const;  // of a column
    SliceSpan slices_on(std::int64_t b_stream) const;

    // Further channels of a memory tile.
    std::int64_t memory_out_b(std::int64_t stream) const { return kMemoryOutC + 1 + stream; }
    std::int64_t memory_out_parts() const { return memory_out_b(b_streams); }
    std::int64_t memory_out_a(std::int64_t held) const {
        return memory_out_parts() + (adds ? 1 : 0) + held;
    }
    std::int64_t memory_in_part(std::int64_t slice) const { return kMemoryInC + 1 + slice; }
    std::int64_t memory_ins() const { return memory_in_part(adds ? rows : 0); }
    std::int64_t memory_outs() const { return memory_out_a(most_slices()); }
};

ArrayShape shape_of(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                    const arch::npu::NpuConfig& config);

// Why the mapping cannot run: what the problem, the kernels and the array do not allow; empty when
// it can.
std::vector<std::string> problems_of(const GemmProblem& problem,
                                     const WeightStationaryMapping& mapping,
                                     const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::weight_stationary
