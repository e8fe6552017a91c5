// How the output-stationary dataflow lies on an array: the cores it uses and the DMA channels,
// buffers and descriptors of every tile. All counts follow from the device and the mapping.
//
// A and B are those of the view (gemm_view.hpp). Every row of cores has one stream of A and every
// column one of B; the C tiles of a column join in its memory tile. Where a column holds the A of
// several rows, their blocks come in turn on one channel, or on several where shim and memory tile
// have them. Half of a shim's channels are for A and half for B, as many as that for C; a second
// one takes every other block, or half of the rows.
#pragma once

#include <cstdint>
#include <utility>

#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Bytes of one buffer of each kind.
struct BufferSizes {
    std::int64_t a_core = 0, b_core = 0, c_core = 0;
    std::int64_t sum_core = 0;                          // where sums have a buffer of their own
    std::int64_t a_block = 0, b_block = 0, c_join = 0;  // in a memory tile
};
BufferSizes buffer_sizes(const GemmView& view, const arch::npu::NpuConfig& config);

// Rows of cores that follow each other.
struct RowSpan {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

struct ArrayShape {
    std::int64_t columns = 0, rows = 0;  // of cores
    std::int64_t first_core_row = 2;
    std::int64_t a_rows = 1;  // most rows of cores whose A one column holds
    // The row of memory tiles the blocks of A and of B lie in, and where C joins.
    std::int64_t a_home = 1, b_home = 1, c_home = 1;
    // Streams of a column. Fewer C streams in than rows: some rows share one, as packets.
    std::int64_t a_in = 1, b_in = 1;  // shim to memory tile
    std::int64_t c_in = 1;            // cores to memory tile
    std::int64_t c_out = 1;           // memory tile to shim
    std::int64_t joins = 1;           // C tiles of a core that its memory tile has room for
    std::int64_t slots = 1;           // descriptors of each stream in a shim
    std::int64_t in_flight = 1;       // output tiles whose transfers have been started

    // Where its columns lie on the array.
    ShimColumns places;

    arch::npu::program::TileCoordinate tile(std::int64_t column, std::int64_t row) const {
        return {places[column], row};
    }
    arch::npu::program::TileCoordinate core_tile(std::int64_t column, std::int64_t row) const {
        return tile(column, row + first_core_row);
    }
    RowSpan rows_of_a(std::int64_t column) const;  // none where a column holds no A
    // Rows of cores whose C comes in, or goes out, on a stream.
    RowSpan rows_in(std::int64_t stream) const;
    RowSpan rows_out(std::int64_t stream) const;
    std::int64_t stream_in(std::int64_t row) const { return row * c_in / rows; }
    bool shared(std::int64_t row) const { return rows_in(stream_in(row)).count > 1; }
    // Streams the A of a column comes in on, and those of its rows that come on one: all of them
    // where there is one row, whose blocks the streams take in turn.
    std::int64_t a_streams(std::int64_t column, const OutputStationaryMapping& mapping) const;
    RowSpan a_rows_in(std::int64_t column, std::int64_t stream, std::int64_t streams) const;

    // First channels of the streams in the memory tile they end or begin at.
    std::int64_t a_in_channel() const { return 0; }
    std::int64_t b_in_channel() const { return b_home == a_home ? a_in : 0; }
    std::int64_t c_in_channel() const;
    std::int64_t a_out_channel() const { return 0; }
    std::int64_t b_out_channel() const { return b_home == a_home ? a_rows : 0; }
    std::int64_t c_out_channel() const;
    // And in the shim.
    std::int64_t a_shim_channel() const { return 0; }
    std::int64_t b_shim_channel() const { return a_in; }
    std::int64_t c_shim_channel() const { return 0; }
};

// The `part`th of `parts` nearly equal spans of `rows`.
RowSpan span_of(std::int64_t rows, std::int64_t part, std::int64_t parts);

// Transfers of one output tile that the shim of the first column, which has A, is given; those on
// even channels and those on odd ones.
std::pair<std::int64_t, std::int64_t> shim_uses(const ArrayShape& shape);

// The shape; where `shape_problems` names a problem, its numbers are those that were wanted.
ArrayShape shape_of(const GemmView& view, const arch::npu::NpuConfig& config);

// Output tiles a shim's descriptor moves, and how far on each matrix lies the next of them, in
// words; 0: it is the same.
struct ReachSteps {
    std::int64_t tiles = 1;
    std::int64_t a = 0, b = 0, c = 0;
    std::int64_t of_row = 1;  // output tiles of the row of blocks they are taken from
};
// How often a shim's offset can advance by such steps.
std::int64_t most_tiles(const ReachSteps& steps, const arch::npu::DmaConfig& dma);
ReachSteps reach_steps(const GemmView& view, const ArrayShape& shape,
                       const arch::npu::NpuConfig& config);

// How the command processor keeps the shims busy.
struct Pace {
    std::int64_t tiles = 1;      // output tiles of a task
    std::int64_t in_flight = 1;  // tasks of a stream that have been started
    bool ahead = false;          // the next one's descriptors are written while there is no room

    bool operator==(const Pace&) const = default;
};
Pace pace_of(const GemmView& view, const ArrayShape& shape, const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
