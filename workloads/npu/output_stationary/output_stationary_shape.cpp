#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/object_fifo.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;
using arch::npu::DmaConfig;
using arch::npu::NpuConfig;
using arch::npu::program::TileKind;
using arch::npu::stream::Bundle;
using arch::npu::stream::PortSide;
using arch::npu::stream::ports_of;

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
        {{shape.a_rows * map.a_buffers * sizes.a_block, &shape.a_home},
         {map.b_buffers * sizes.b_block, &shape.b_home},
         {map.c_buffers * sizes.c_join, &shape.c_home}}};
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
        shape.a_rows > 1 ? std::min(most_a, shape.a_rows) : largest_divisor(map.a_buffers, most_a);
    const auto most_b = std::min(each, 1 + std::max<std::int64_t>(0, free_in(shape.b_home)));
    shape.b_in = largest_divisor(map.b_buffers, most_b);
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
        return map.c_buffers;
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
    if (map.in_flight > 0) {
        shape.in_flight = std::min(shape.in_flight, map.in_flight);
    }
}

// Descriptors of the memory tiles of a column in one row; those of the column that holds most A.
DescriptorIds memory_descriptors(const ArrayShape& shape, std::int64_t home,
                                 const OutputStationaryMapping& map, const NpuConfig& config) {
    DescriptorIds ids(config.memory_dma);
    if (shape.a_home == home) {
        for (std::int64_t i = 0; i < shape.a_in; ++i) {
            ids.take(i, shape.a_rows > 1
                            ? span_of(shape.a_rows, i, shape.a_in).count * map.a_buffers
                            : map.a_buffers / shape.a_in);
        }
        for (std::int64_t row = 0; row < shape.a_rows; ++row) {
            ids.take(shape.a_out_channel() + row, map.a_buffers);
        }
    }
    if (shape.b_home == home) {
        for (std::int64_t i = 0; i < shape.b_in; ++i) {
            ids.take(shape.b_in_channel() + i, map.b_buffers / shape.b_in);
        }
        ids.take(shape.b_out_channel(), map.b_buffers);
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

class Problems {
  public:
    Problems(const ArrayShape& shape, const OutputStationaryMapping& map, const NpuConfig& config)
        : shape_(shape), map_(map), config_(config) {}

    std::vector<std::string> all() {
        check_cores();
        for (std::int64_t home = 1; home <= config_.memory_rows; ++home) {
            check_channels(home);
            check_descriptors(fmt::format("a memory tile of row {}", home),
                              memory_descriptors(shape_, home, map_, config_), config_.memory_dma);
        }
        check_shims();
        check_wires();
        return std::move(problems_);
    }

  private:
    template <class... Args>
    void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
        if (!holds) {
            problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
        }
    }

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

    const ArrayShape& shape_;
    const OutputStationaryMapping& map_;
    const NpuConfig& config_;
    std::vector<std::string> problems_;
};

}  // namespace

BufferSizes buffer_sizes(const GemmProblem& problem, const OutputStationaryMapping& map,
                         const NpuConfig& config) {
    BufferSizes sizes;
    sizes.a_core = map.m_ct * map.k_ct * bytes_of(problem.a);
    sizes.b_core = map.k_ct * map.n_ct * bytes_of(problem.b);
    sizes.c_core = map.m_ct * map.n_ct * bytes_of(problem.c);
    const std::int64_t tiles = map.k_mt / map.k_ct;
    sizes.a_block = sizes.a_core * tiles;
    // Row-major B has its long runs along N: one core tile at a time.
    sizes.b_block = sizes.b_core * (problem.b_column_major ? tiles : 1);
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
    return held > 1 ? std::min(a_in, held) : largest_divisor(map.a_buffers, a_in);
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

ArrayShape shape_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                    const NpuConfig& config) {
    ArrayShape shape;
    shape.columns = map.columns_of(config);
    shape.rows = map.rows_of(config);
    shape.first_core_row = 1 + config.memory_rows;
    shape.a_rows = ceil_div(shape.rows, shape.columns);
    choose_homes(shape, buffer_sizes(problem, map, config), map, config);
    choose_streams(shape, map, config);
    shape.joins = joins_of(shape, map, ceil_div(problem.k, map.k_mt) * (map.k_mt / map.k_ct));
    choose_slots(shape, map, config);
    return shape;
}

std::vector<std::string> shape_problems(const ArrayShape& shape, const OutputStationaryMapping& map,
                                        const NpuConfig& config) {
    return Problems(shape, map, config).all();
}

}  // namespace tilesim::workloads::npu::output_stationary
