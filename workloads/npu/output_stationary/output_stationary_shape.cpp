#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/object_fifo.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;
using arch::npu::DmaConfig;
using arch::npu::NpuConfig;
using arch::npu::program::TileKind;
using arch::npu::stream::Bundle;
using arch::npu::stream::ports_of;
using arch::npu::stream::PortSide;

namespace {

// The `part`th of `parts` nearly equal spans of `rows`.
RowSpan span_of(std::int64_t rows, std::int64_t part, std::int64_t parts) {
    const std::int64_t first = ceil_div(part * rows, parts);
    return {first, ceil_div((part + 1) * rows, parts) - first};
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
    std::int64_t divisor = std::clamp<std::int64_t>(most, 1, number);
    while (number % divisor != 0) {
        --divisor;
    }
    return divisor;
}

// A, B and C each lie in one row of memory tiles: the largest first, where the least lies yet.
void choose_homes(ArrayShape& shape, const BufferSizes& sizes, const OutputStationaryMapping& map,
                  const NpuConfig& config) {
    std::array<std::pair<std::int64_t, std::int64_t*>, 3> streams{
        {{shape.a_rows * map.a_blocks * sizes.a_block, &shape.a_home},
         {map.b_blocks * sizes.b_block, &shape.b_home},
         {map.c_blocks * sizes.c_join, &shape.c_home}}};
    std::stable_sort(streams.begin(), streams.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::int64_t> used(static_cast<std::size_t>(config.memory_rows), 0);
    for (const auto& [bytes, home] : streams) {
        const auto least = std::min_element(used.begin(), used.end());
        *least += bytes;
        *home = 1 + (least - used.begin());
    }
}

// Channels of memory tiles and shims, and the wires between cores and memory tiles, go to C's
// joins first: a stream that rows share costs more than a second one for A or B gains.
void choose_streams(ArrayShape& shape, const OutputStationaryMapping& map,
                    const NpuConfig& config) {
    const std::int64_t channels = config.memory_dma.channels;
    const std::int64_t down = ports_of(config, TileKind::Memory, Bundle::South, PortSide::Master);
    const auto free_in = [&](std::int64_t home) {
        return channels - (shape.a_home == home ? shape.a_in : 0) -
               (shape.b_home == home ? shape.b_in : 0) - (shape.c_home == home ? shape.c_in : 0);
    };
    shape.c_in = 0;
    shape.c_in = std::max<std::int64_t>(1, std::min({shape.rows, down, free_in(shape.c_home)}));
    // A shim sends A and B: each has half of its channels.
    const std::int64_t up = ports_of(config, TileKind::Shim, Bundle::North, PortSide::Master);
    const std::int64_t each = std::max<std::int64_t>(1, std::min(config.shim_dma.channels, up) / 2);
    const auto most_a = std::min(each, 1 + std::max<std::int64_t>(0, free_in(shape.a_home)));
    shape.a_in =
        shape.a_rows > 1 ? std::min(most_a, shape.a_rows) : largest_divisor(map.a_blocks, most_a);
    const auto most_b = std::min(each, 1 + std::max<std::int64_t>(0, free_in(shape.b_home)));
    shape.b_in = largest_divisor(map.b_blocks, most_b);
    const std::int64_t left = channels - shape.c_out_channel();
    shape.c_out = std::max<std::int64_t>(1, std::min({each, shape.rows, down, left}));
}

// Rows that share a stream of C send packets in the order in which they end. A packet whose place
// is still taken holds up those behind it, so its core may not be so far ahead that the place waits
// for one of them. The broadcast of B keeps the cores of a column within b_buffers calls and what
// the switches hold, counted as one call more; a core that has begun a tile c_buffers later has
// sent this one.
std::int64_t joins_of(const ArrayShape& shape, const OutputStationaryMapping& map,
                      std::int64_t calls_per_tile) {
    if (shape.c_in == shape.rows) {
        return map.c_blocks;
    }
    const std::int64_t ahead = ceil_div(map.b_buffers + 2, calls_per_tile);
    return map.c_buffers * ceil_div(map.c_buffers - 1 + ahead, map.c_buffers);
}

// Transfers of one output tile that the shim of the first column, which has A, is given; those on
// even channels and those on odd ones.
std::pair<std::int64_t, std::int64_t> shim_uses(const ArrayShape& shape) {
    const std::int64_t sent = shape.a_in + shape.b_in;
    return {ceil_div(sent, std::int64_t{2}) + ceil_div(shape.c_out, std::int64_t{2}),
            sent / 2 + shape.c_out / 2};
}

void choose_slots(ArrayShape& shape, const OutputStationaryMapping& map, const NpuConfig& config) {
    const auto [even, odd] = shim_uses(shape);
    const DmaConfig& shim = config.shim_dma;
    shape.slots = shim.parity_bound_descriptors ? shim.descriptors / 2 / std::max(even, odd)
                                                : shim.descriptors / (even + odd);
    // One task runs, the others queue.
    shape.in_flight = std::min(shape.slots, shim.task_queue_depth + 1);
    if (shape.c_in < shape.rows) {
        shape.in_flight = std::min(shape.in_flight, config.memory_dma.task_queue_depth + 1);
    }
    const bool sequential = map.shim_bds == OutputStationaryMapping::ShimDescriptors::Sequential;
    const std::int64_t wanted = map.in_flight == 0 && sequential ? 1 : map.in_flight;
    if (wanted > 0) {
        shape.in_flight = std::min(shape.in_flight, wanted);
    }
}

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
            ids.take(shape.c_out_channel() + i, shape.rows_out(i).count * shape.joins);
        }
    }
    return ids;
}

// How often a shim's offset can advance by such steps.
std::int64_t most_tiles(const ReachSteps& steps, const DmaConfig& dma) {
    const bool near = std::max({steps.a, steps.b, steps.c}) <= std::int64_t{1} << dma.step_bits;
    return dma.iteration && near ? std::min(kIterations, dma.repeats) : 1;
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

class Problems : private arch::npu::check::ProblemList {
  public:
    Problems(const ArrayShape& shape, const GemmView& view, const NpuConfig& config)
        : shape_(shape), view_(view), map_(view.map), config_(config) {}

    std::vector<std::string> all() {
        check_cores();
        for (std::int64_t home = 1; home <= config_.memory_rows; ++home) {
            check_channels(home);
            check_descriptors(fmt::format("a memory tile of row {}", home),
                              memory_descriptors(shape_, home, map_, config_), config_.memory_dma);
        }
        check_shims();
        check_wires();
        check_reach();
        check_rows_of_a();
        check_wraps();
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
        check_descriptors("a core tile", ids, config_.core_dma);
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

    void check_descriptors(const std::string& tile, const DescriptorIds& ids,
                           const DmaConfig& dma) {
        const std::int64_t most =
            dma.parity_bound_descriptors ? dma.descriptors / 2 : dma.descriptors;
        require(std::max(ids.even(), ids.odd()) <= most, "{} needs {} descriptors{}, it has {}",
                tile, std::max(ids.even(), ids.odd()),
                dma.parity_bound_descriptors ? " for its even or its odd channels" : "", most);
    }

    void check_shims() {
        require(config_.shim_dma.channels >= 2,
                "A and B come from one shim, neither may wait for the other: a shim needs 2 MM2S "
                "channels, it has {}",
                config_.shim_dma.channels);
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
            "and {}; the nearest that can: reach: output_tile",
            shape_.a_in, shape_.b_in, shape_.c_out);
        for (std::int64_t column = 0; column < shape_.columns; ++column) {
            require(config_.has_shim_dma(column), "column {} has no shim DMA", column);
        }
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

    void check_wrap(const char* name, DataType type, bool by_k, std::int64_t across,
                    std::int64_t block_k, std::int64_t k) {
        const std::int64_t most = (std::int64_t{1} << config_.shim_dma.wrap_bits) - 1;
        const std::int64_t steps = by_k ? across : block_k;
        const std::int64_t run = (by_k ? block_k : across) * bytes_of(type) / arch::npu::kWordBytes;
        require(block_k == k || std::max(run, steps) <= most,
                "a shim's descriptor steps through {} runs of {} words of {}, {} bits hold {}; the "
                "nearest that can: {} of both, or the whole of K in one block",
                steps, run, name, config_.shim_dma.wrap_bits, most, most);
    }

    const ArrayShape& shape_;
    const GemmView& view_;
    const OutputStationaryMapping& map_;
    const NpuConfig& config_;
};

}  // namespace

BufferSizes buffer_sizes(const GemmView& view, const NpuConfig& config) {
    const GemmProblem& problem = view.problem;
    const OutputStationaryMapping& map = view.map;
    BufferSizes sizes;
    sizes.a_core = map.m_ct * map.k_ct * bytes_of(problem.a);
    sizes.b_core = map.k_ct * map.n_ct * bytes_of(problem.b);
    sizes.c_core = map.m_ct * map.n_ct * bytes_of(problem.c);
    sizes.sum_core = map.sums_apart ? map.m_ct * map.n_ct * bytes_of(DataType::F32) : 0;
    sizes.a_block = sizes.a_core * (view.a_block_k / map.k_ct);
    sizes.b_block = sizes.b_core * (view.b_block_k / map.k_ct);
    sizes.c_join = sizes.c_core * map.rows_of(config);
    return sizes;
}

RowSpan ArrayShape::rows_of_a(std::int64_t column) const {
    return span_of(rows, column, columns);
}

RowSpan ArrayShape::rows_in(std::int64_t stream) const {
    return span_of(rows, stream, c_in);
}

RowSpan ArrayShape::rows_out(std::int64_t stream) const {
    return span_of(rows, stream, c_out);
}

std::int64_t ArrayShape::a_streams(std::int64_t column, const OutputStationaryMapping& map) const {
    const std::int64_t held = rows_of_a(column).count;
    return held > 1 ? std::min(a_in, held) : largest_divisor(map.a_blocks, a_in);
}

RowSpan ArrayShape::a_rows_in(std::int64_t column, std::int64_t stream,
                              std::int64_t streams) const {
    const RowSpan held = rows_of_a(column);
    if (held.count == 1) {
        return held;
    }
    const RowSpan part = span_of(held.count, stream, streams);
    return {held.first + part.first, part.count};
}

std::int64_t ArrayShape::c_in_channel() const {
    return (c_home == a_home ? a_in : 0) + (c_home == b_home ? b_in : 0);
}

std::int64_t ArrayShape::c_out_channel() const {
    return (c_home == a_home ? a_rows : 0) + (c_home == b_home ? 1 : 0);
}

ArrayShape shape_of(const GemmView& view, const NpuConfig& config) {
    const OutputStationaryMapping& map = view.map;
    ArrayShape shape;
    shape.columns = map.columns_of(config);
    shape.rows = map.rows_of(config);
    shape.first_core_row = 1 + config.memory_rows;
    shape.a_rows = ceil_div(shape.rows, shape.columns);
    choose_homes(shape, buffer_sizes(view, config), map, config);
    choose_streams(shape, map, config);
    shape.joins = joins_of(shape, map, padded(view, config).k / map.k_ct);
    choose_slots(shape, map, config);
    return shape;
}

ReachSteps reach_steps(const GemmView& view, const ArrayShape& shape, const NpuConfig& config) {
    const GemmProblem& problem = view.problem;
    const PaddedGemm size = padded(view, config);
    const std::int64_t rows = view.map.m_ct * shape.rows;
    const std::int64_t columns = view.map.n_ct * shape.columns;
    const auto words = [](std::int64_t elements, DataType type) {
        using arch::npu::kWordBytes;
        return elements * bytes_of(type) / kWordBytes;
    };
    if (view.map.reach == OutputStationaryMapping::Reach::OutputTile) {
        return {};
    }
    const bool along_row = size.n > columns;
    ReachSteps steps;
    steps.of_row = along_row ? size.n / columns : size.m / rows;
    if (along_row) {
        steps.b = words(columns * (problem.b_column_major ? size.k : 1), problem.b);
        steps.c = words(columns * (view.c_by_columns ? size.m : 1), problem.c);
    } else {
        steps.a = words(rows * (view.a_by_k ? size.k : 1), problem.a);
        steps.c = words(rows * (view.c_by_columns ? 1 : size.n), problem.c);
    }
    const std::int64_t most = most_tiles(steps, config.shim_dma);
    steps.tiles =
        view.map.reach_tiles > 0 ? view.map.reach_tiles : largest_divisor(steps.of_row, most);
    return steps;
}

std::vector<std::string> shape_problems(const ArrayShape& shape, const GemmView& view,
                                        const NpuConfig& config) {
    return Problems(shape, view, config).all();
}

}  // namespace tilesim::workloads::npu::output_stationary
