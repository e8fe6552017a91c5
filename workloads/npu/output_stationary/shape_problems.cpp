#include "workloads/npu/output_stationary/shape_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;
using arch::npu::program::TileKind;
using arch::npu::stream::Bundle;
using arch::npu::stream::ports_of;
using arch::npu::stream::PortSide;

namespace {

// Descriptors of the memory tiles of a column in one row; those of the column that holds most A.
DescriptorIds memory_descriptors(const ArrayShape& shape, std::int64_t home,
                                 const OutputStationaryMapping& map, const NpuConfig& config) {
    DescriptorIds ids(config.memory_dma);
    if (shape.a_home == home) {
        for (std::int64_t i = 0; i < shape.a_in; ++i) {
            ids.take(i, shape.a_rows > 1 ? span_of(shape.a_rows, i, shape.a_in).count * map.a_blocks
                                         : map.a_blocks / shape.a_in);
        }
        for (std::int64_t row = 0; row < shape.a_rows; ++row) {
            ids.take(shape.a_out_channel() + row, map.a_blocks);
        }
    }
    if (shape.b_home == home) {
        for (std::int64_t i = 0; i < shape.b_in; ++i) {
            ids.take(shape.b_in_channel() + i, map.b_blocks / shape.b_in);
        }
        ids.take(shape.b_out_channel(), map.b_blocks);
    }
    if (shape.c_home == home) {
        for (std::int64_t i = 0; i < shape.c_in; ++i) {
            ids.take(shape.c_in_channel() + i, shape.rows_in(i).count * shape.joins);
        }
        for (std::int64_t i = 0; i < shape.c_out; ++i) {
            ids.take(shape.c_out_channel() + i,
                     map.c_by_line ? shape.joins : shape.rows_out(i).count * shape.joins);
        }
    }
    return ids;
}

// Of `count`, the one nearest to `wanted`.
std::int64_t nearest_divisor(std::int64_t count, std::int64_t wanted) {
    std::int64_t nearest = 1;
    for (std::int64_t divisor = 2; divisor <= count; ++divisor) {
        if (count % divisor == 0 && std::abs(divisor - wanted) < std::abs(nearest - wanted)) {
            nearest = divisor;
        }
    }
    return nearest;
}

class ShapeProblems : private arch::npu::check::ProblemList {
  public:
    ShapeProblems(const ArrayShape& shape, const GemmView& view, const NpuConfig& config)
        : shape_(shape), view_(view), map_(view.map), config_(config) {}

    std::vector<std::string> all() {
        check_cores();
        for (std::int64_t home = 1; home <= config_.memory_rows; ++home) {
            check_channels(home);
            check_descriptors(fmt::format("a memory tile of row {}", home),
                              memory_descriptors(shape_, home, map_, config_));
        }
        check_shims();
        check_wires();
        check_reach();
        check_rows_of_a();
        check_wraps();
        check_lines();
        return take_problems();
    }

  private:
    void check_cores() {
        require(config_.core_dma.channels >= 2,
                "A and B come to a core from different memory tiles, neither of which may wait for "
                "the other: a core tile needs 2 S2MM channels, it has {}",
                config_.core_dma.channels);
        DescriptorIds ids(config_.core_dma);
        ids.take(0, map_.a_buffers);
        ids.take(1, map_.b_buffers);
        ids.take(0, shape_.c_in < shape_.rows ? shape_.joins : map_.c_buffers);
        check_descriptors("a core tile", ids);
    }

    void check_channels(std::int64_t home) {
        const bool a = shape_.a_home == home;
        const bool b = shape_.b_home == home;
        const bool c = shape_.c_home == home;
        const std::int64_t channels = config_.memory_dma.channels;
        const std::int64_t in =
            (a ? shape_.a_in : 0) + (b ? shape_.b_in : 0) + (c ? shape_.c_in : 0);
        require(in <= channels,
                "a memory tile of row {} takes {} streams (A, B and C), it has {} S2MM channels",
                home, in, channels);
        const std::int64_t out = (a ? shape_.a_rows : 0) + (b ? 1 : 0) + (c ? shape_.c_out : 0);
        require(out <= channels,
                "a memory tile of row {} sends {} streams (A of {} rows of cores, B, C), it has {} "
                "MM2S channels; use fewer rows or more columns",
                home, out, shape_.a_rows, channels);
    }

    void check_descriptors(const std::string& tile, const DescriptorIds& ids) {
        const std::string lack = ids.lack(tile);
        require(lack.empty(), "{}", lack);
    }

    void check_shims() {
        require(config_.shim_dma.channels >= 2,
                "A and B come from one shim, neither may wait for the other: a shim needs 2 MM2S "
                "channels, it has {}",
                config_.shim_dma.channels);
        require(map_.shim_channels == 0 ||
                    (map_.shim_channels >= 2 && map_.shim_channels <= config_.shim_dma.channels),
                "shim_channels must be 2 to {}, or 0 for all, got {}", config_.shim_dma.channels,
                map_.shim_channels);
        require(shape_.slots >= 1, "a shim needs {} descriptors for one output tile, it has {}",
                shim_uses(shape_).first + shim_uses(shape_).second, config_.shim_dma.descriptors);
        require(map_.in_flight <= shape_.in_flight || shape_.slots < 1,
                "in_flight must be at most {}: what the {} descriptors and {} queued tasks of a "
                "shim's channel can hold, got {}",
                shape_.in_flight, config_.shim_dma.descriptors, config_.shim_dma.task_queue_depth,
                map_.in_flight);
        require(
            map_.reach == OutputStationaryMapping::Reach::OutputTile ||
                (shape_.a_in == 1 && shape_.b_in == 1 && shape_.c_out == 1),
            "reach: block_row needs one stream of A, of B and of C a shim, here they are {}, {} "
            "and {}; the nearest that can: shim_channels: 2",
            shape_.a_in, shape_.b_in, shape_.c_out);
    }

    // Northbound streams behind the memory tiles of each row: those on their way to tiles further
    // up and those that leave for the cores.
    void check_wires() {
        const std::int64_t wires =
            ports_of(config_, TileKind::Memory, Bundle::North, PortSide::Master);
        for (std::int64_t row = 1; row <= config_.memory_rows; ++row) {
            const std::int64_t up = (shape_.a_home > row ? shape_.a_in : shape_.a_rows) +
                                    (shape_.b_home > row ? shape_.b_in : 1);
            require(up <= wires,
                    "{} streams (A of {} rows of cores, and B) go north from a memory tile of row "
                    "{}, its switch has {}; use fewer rows or more columns",
                    up, shape_.a_rows, row, wires);
        }
    }

    // What moves several output tiles repeats a task, whose offset advances with its runs.
    void check_reach() {
        if (map_.reach == OutputStationaryMapping::Reach::OutputTile) {
            require(map_.reach_tiles == 0,
                    "reach_tiles needs reach: block_row; with output_tile a descriptor moves one");
            return;
        }
        const ReachSteps steps = reach_steps(view_, shape_, config_);
        const std::int64_t most = most_tiles(steps, config_.shim_dma);
        require(steps.tiles <= most,
                "reach_tiles must be at most {}: a descriptor's offset advances {} times by steps "
                "of {} bits, here they are {} words; got {}",
                most, config_.shim_dma.iteration ? kIterations : 1, config_.shim_dma.step_bits,
                std::max({steps.a, steps.b, steps.c}), steps.tiles);
        require(steps.of_row % steps.tiles == 0,
                "reach_tiles must divide the {} output tiles of a row of blocks, got {}; the "
                "nearest that does is {}",
                steps.of_row, steps.tiles, nearest_divisor(steps.of_row, steps.tiles));
        require(shape_.a_in == 1 && shape_.b_in == 1,
                "reach: block_row: blocks come on {} streams of A and {} of B in turn; use reach: "
                "output_tile",
                shape_.a_in, shape_.b_in);
        require(shape_.c_in == shape_.rows,
                "reach: block_row: rows of cores share a stream of C, whose packets are expected "
                "tile by tile; use reach: output_tile");
    }

    // Blocks whose rows have no long runs along K come on one stream, each row's by itself.
    void check_rows_of_a() {
        require(view_.a_by_k || shape_.a_rows == 1,
                "row-major B goes along {} rows of cores from {} columns: a shim's descriptor "
                "cannot walk the tiles of {} rows; use at least as many columns as rows, or "
                "column-major B",
                shape_.rows, shape_.columns, shape_.a_rows);
    }

    // Block by block, a shim's descriptor steps through what its stream carries of one.
    void check_wraps() {
        const PaddedGemm size = padded(view_, config_);
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            const std::int64_t held = shape_.rows_of_a(column).count;
            const std::int64_t streams = held == 0 ? 0 : shape_.a_streams(column, map_);
            for (std::int64_t i = 0; i < streams; ++i) {
                check_wrap(view_.name_a(), view_.problem.a, view_.a_by_k,
                           shape_.a_rows_in(column, i, streams).count * map_.m_ct, view_.a_block_k,
                           size.k);
            }
        }
        check_wrap(view_.name_b(), view_.problem.b, view_.problem.b_column_major, map_.n_ct,
                   view_.b_block_k, size.k);
    }

    // Lines go through the tiles of a column of cores where these lie side by side.
    void check_lines() {
        if (!map_.c_by_line) {
            return;
        }
        require(view_.c_by_columns,
                "c_leaves: by_line: the C tiles of a column of cores do not lie side by side; use "
                "c_layout: {} or c_leaves: by_tile",
                map_.c_column_major ? "row_major" : "column_major");
        require(shape_.c_in == shape_.rows,
                "c_leaves: by_line: rows of cores share a stream of C, whose packets come tile by "
                "tile; use c_leaves: by_tile");
        const std::int64_t most = (std::int64_t{1} << config_.shim_dma.wrap_bits) - 1;
        const std::int64_t line =
            shape_.rows_out(0).count * whole_words(map_.m_ct, view_.problem.c);
        require(line <= most,
                "c_leaves: by_line: a shim's descriptor steps through lines of {} words, {} bits "
                "hold {}; use c_leaves: by_tile",
                line, config_.shim_dma.wrap_bits, most);
    }

    void check_wrap(const char* name, DataType type, bool by_k, std::int64_t across,
                    std::int64_t block_k, std::int64_t k) {
        const std::int64_t most = (std::int64_t{1} << config_.shim_dma.wrap_bits) - 1;
        const std::int64_t steps = by_k ? across : block_k;
        const std::int64_t run = whole_words(by_k ? block_k : across, type);
        require(block_k == k || std::max(run, steps) <= most,
                "a shim's descriptor steps through {} runs of {} words of {}, {} bits hold {} of "
                "either; use smaller tiles or blocks, or the whole of K in one block",
                steps, run, name, config_.shim_dma.wrap_bits, most);
    }

    const ArrayShape& shape_;
    const GemmView& view_;
    const OutputStationaryMapping& map_;
    const NpuConfig& config_;
};

}  // namespace

std::vector<std::string> shape_problems(const ArrayShape& shape, const GemmView& view,
                                        const NpuConfig& config) {
    return ShapeProblems(shape, view, config).all();
}

}  // namespace tilesim::workloads::npu::output_stationary
