#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/run_time_sequence.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;
using arch::npu::DmaConfig;
using arch::npu::NpuConfig;
using arch::npu::program::TileKind;
using arch::npu::stream::Bundle;
using arch::npu::stream::ports_of;
using arch::npu::stream::PortSide;

namespace {

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
    const std::int64_t used = map.shim_channels == 0 ? config.shim_dma.channels : map.shim_channels;
    const std::int64_t each = std::max<std::int64_t>(1, std::min(used, up) / 2);
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
// the switches hold, counted as one call more; a core that has begun a tile c_buffers later, or
// the one behind that where its sums need no room of C, has sent this one. Nor is it further ahead
// than the shims have been given transfers.
std::int64_t joins_of(const ArrayShape& shape, const OutputStationaryMapping& map,
                      std::int64_t calls_per_tile) {
    if (shape.c_in == shape.rows) {
        return map.c_blocks;
    }
    const std::int64_t ahead = ceil_div(map.b_buffers + 2, calls_per_tile);
    const std::int64_t unsent = map.c_buffers - (map.sums_apart ? 0 : 1);
    const auto places = std::clamp<std::int64_t>(shape.in_flight, 1, unsent + ahead);
    return map.c_buffers * ceil_div(places, map.c_buffers);
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

}  // namespace

RowSpan span_of(std::int64_t rows, std::int64_t part, std::int64_t parts) {
    const std::int64_t first = ceil_div(part * rows, parts);
    return {first, ceil_div((part + 1) * rows, parts) - first};
}

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
    shape.places = ShimColumns(config);
    shape.first_core_row = 1 + config.memory_rows;
    shape.a_rows = ceil_div(shape.rows, shape.columns);
    choose_homes(shape, buffer_sizes(view, config), map, config);
    choose_streams(shape, map, config);
    choose_slots(shape, map, config);
    shape.joins = joins_of(shape, map, padded(view, config).k / map.k_ct);
    return shape;
}

std::pair<std::int64_t, std::int64_t> shim_uses(const ArrayShape& shape) {
    const std::int64_t sent = shape.a_in + shape.b_in;
    return {ceil_div(sent, std::int64_t{2}) + ceil_div(shape.c_out, std::int64_t{2}),
            sent / 2 + shape.c_out / 2};
}

std::int64_t most_tiles(const ReachSteps& steps, const DmaConfig& dma) {
    const bool near = std::max({steps.a, steps.b, steps.c}) <= std::int64_t{1} << dma.step_bits;
    return dma.iteration && near ? std::min(kIterations, dma.repeats) : 1;
}

ReachSteps reach_steps(const GemmView& view, const ArrayShape& shape, const NpuConfig& config) {
    const GemmProblem& problem = view.problem;
    const PaddedGemm size = padded(view, config);
    const std::int64_t rows = view.map.m_ct * shape.rows;
    const std::int64_t columns = view.map.n_ct * shape.columns;
    if (view.map.reach == OutputStationaryMapping::Reach::OutputTile) {
        return {};
    }
    const bool along_row = size.n > columns;
    ReachSteps steps;
    steps.of_row = along_row ? size.n / columns : size.m / rows;
    if (along_row) {
        steps.b = whole_words(columns * (problem.b_column_major ? size.k : 1), problem.b);
        steps.c = whole_words(columns * (view.c_by_columns ? size.m : 1), problem.c);
    } else {
        steps.a = whole_words(rows * (view.a_by_k ? size.k : 1), problem.a);
        steps.c = whole_words(rows * (view.c_by_columns ? 1 : size.n), problem.c);
    }
    const std::int64_t most = most_tiles(steps, config.shim_dma);
    steps.tiles =
        view.map.reach_tiles > 0 ? view.map.reach_tiles : largest_divisor(steps.of_row, most);
    return steps;
}

Pace pace_of(const GemmView& view, const ArrayShape& shape, const NpuConfig& config) {
    Pace pace;
    pace.tiles = reach_steps(view, shape, config).tiles;
    const std::int64_t tasks = output_tiles(view, config) / pace.tiles;
    pace.in_flight = std::min(shape.in_flight, tasks);
    pace.ahead = view.map.shim_bds == OutputStationaryMapping::ShimDescriptors::Overlapped &&
                 pace.in_flight < tasks && shape.slots > shape.in_flight;
    return pace;
}

}  // namespace tilesim::workloads::npu::output_stationary
