#include "workloads/npu/weight_stationary/weight_stationary_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/run_time_sequence.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using arch::base::ceil_div;
using arch::npu::NpuConfig;
using arch::npu::program::Kernel;
using arch::npu::program::KernelKind;
using arch::npu::program::TileKind;

namespace {

// The `part`th of `parts` nearly equal spans of `slices`.
SliceSpan span_of(std::int64_t slices, std::int64_t part, std::int64_t parts) {
    const std::int64_t first = ceil_div(part * slices, parts);
    return {first, ceil_div((part + 1) * slices, parts) - first};
}

class Problems : private arch::npu::check::ProblemList {
  public:
    Problems(const GemmProblem& problem, const WeightStationaryMapping& map,
             const NpuConfig& config)
        : problem_(problem),
          map_(map),
          config_(config),
          shape_(shape_of(problem, map, config)),
          sizes_(tile_sizes(problem, map, config)) {}

    std::vector<std::string> all() {
        check_cores();
        check_k();
        check_memories();
        check_channels();
        check_descriptors();
        return take_problems();
    }

  private:
    void check_cores() {
        require(shape_.columns <= ShimColumns::count(config_) &&
                    shape_.rows + (shape_.adds ? 1 : 0) <= config_.core_rows && shape_.rows >= 1,
                "the mapping uses {} columns and {} rows of cores{}; the array has {} columns{} "
                "and {} rows",
                shape_.columns, shape_.rows, shape_.adds ? " and one that adds" : "",
                ShimColumns::count(config_), config_.shim_columns.empty() ? "" : " with a shim DMA",
                config_.core_rows);
        require(config_.memory_rows > 0,
                "the dataflow keeps tiles of A, B and C in memory tiles; the array has none");
        require(shape_.adds || shape_.rows == 1 || !config_.core.alternating_sides,
                "the cascade of this array runs along its rows, not down its columns");
    }

    // Partial sums of further slices would have to come back to the cores.
    void check_k() {
        const std::int64_t held = shape_.rows * map_.k_ct;
        require(problem_.k <= held,
                "K ({}) is more than the {} rows of cores hold with k_ct {}: {}; what is added so "
                "far would have to come back, and the S2MM channels of a core bring A and B",
                problem_.k, shape_.rows, map_.k_ct, held);
    }

    void check_memories() {
        const std::int64_t core = config_.core.stack.count() + sizes_.b +
                                  map_.a_buffers * sizes_.a + map_.c_buffers * sizes_.c;
        require(core <= config_.core.memory.count(),
                "the core tiles need {} B (stack {} + B {} + {} x A {} + {} x C {}), a core has {} "
                "B",
                core, config_.core.stack.count(), sizes_.b, map_.a_buffers, sizes_.a,
                map_.c_buffers, sizes_.c, config_.core.memory.count());
        const std::int64_t adder =
            config_.core.stack.count() + (kPartsInAdder + map_.c_buffers) * sizes_.c;
        require(!shape_.adds || adder <= config_.core.memory.count(),
                "the core that adds needs {} B, it has {} B", adder, config_.core.memory.count());
        const std::int64_t parts = shape_.adds ? shape_.rows : 0;
        const std::int64_t memory = shape_.most_slices() * map_.a_buffers * sizes_.a +
                                    shape_.rows * kBlocksOfB * sizes_.b +
                                    (1 + parts) * map_.c_buffers * sizes_.c;
        require(memory <= config_.memory_tile.memory.count(),
                "a memory tile needs {} B ({} x A of {} slices, {} x B of {} rows, C), it has {} "
                "B",
                memory, map_.a_buffers, shape_.most_slices(), kBlocksOfB, shape_.rows,
                config_.memory_tile.memory.count());
    }

    void check_channels() {
        const std::int64_t channels = config_.memory_dma.channels;
        require(shape_.memory_ins() <= channels,
                "a memory tile takes {} streams (A, B, C{}), it has {} S2MM channels",
                shape_.memory_ins(), shape_.adds ? " and a part of it of every row" : "", channels);
        require(shape_.memory_outs() <= channels,
                "a memory tile sends {} streams (A of {} slices, B, C{}), it has {} MM2S "
                "channels; use fewer rows{}",
                shape_.memory_outs(), shape_.most_slices(), shape_.adds ? " and its parts" : "",
                channels, shape_.most_slices() > 1 ? " or more columns" : "");
        using arch::npu::stream::PortSide;
        const std::int64_t wires = arch::npu::stream::ports_of(
            config_, TileKind::Memory, arch::npu::program::Bundle::North, PortSide::Master);
        const std::int64_t north = shape_.memory_outs() - 1;
        require(north <= wires, "{} streams go north from a memory tile, its switch has {}", north,
                wires);
        require(config_.core_dma.channels >= 2 && config_.shim_dma.channels >= 2,
                "A and B must not wait for each other: cores need 2 S2MM and shims 2 MM2S "
                "channels");
    }

    void check_descriptors() {
        DescriptorIds ids(config_.memory_dma);
        const std::int64_t slices = shape_.most_slices();
        ids.take(kMemoryInA, slices * map_.a_buffers);
        ids.take(kMemoryInB, shape_.rows * kBlocksOfB);
        ids.take(kMemoryInC, map_.c_buffers);
        ids.take(kMemoryOutC, map_.c_buffers);
        for (std::int64_t stream = 0; stream < shape_.b_streams; ++stream) {
            ids.take(shape_.memory_out_b(stream), shape_.slices_on(stream).count * kBlocksOfB);
        }
        for (std::int64_t slice = 0; shape_.adds && slice < shape_.rows; ++slice) {
            ids.take(shape_.memory_in_part(slice), map_.c_buffers);
            ids.take(shape_.memory_out_parts(), map_.c_buffers);
        }
        for (std::int64_t held = 0; held < slices; ++held) {
            ids.take(shape_.memory_out_a(held), map_.a_buffers);
        }
        const std::string memory = ids.lack("a memory tile");
        require(memory.empty(), "{}", memory);
        DescriptorIds of_core(config_.core_dma);
        of_core.take(kCoreA, map_.a_buffers);
        of_core.take(kCoreB, 1);
        of_core.take(kCoreC, map_.c_buffers);
        const std::string core = of_core.lack("a core tile");
        require(core.empty(), "{}", core);
    }

    const GemmProblem& problem_;
    const WeightStationaryMapping& map_;
    const NpuConfig& config_;
    ArrayShape shape_;
    TileSizes sizes_;
};

// What keeps the kernels from running; without them there are no tiles to speak of.
std::string kernel_problem(const GemmProblem& problem, const WeightStationaryMapping& map,
                           const NpuConfig& config) {
    Kernel kernel;
    kernel.kind = KernelKind::Multiply;
    kernel.m = map.m_ct;
    kernel.k = map.k_ct;
    kernel.n = map.n_ct;
    kernel.a = problem.a;
    kernel.b = problem.b;
    kernel.c = problem.c;
    const arch::npu::core::KernelTiming timing(config.kernels);
    std::string reason = timing.check(kernel);
    kernel.kind = KernelKind::Add;
    if (reason.empty() && map.adds() && !timing.check(kernel).empty()) {
        reason = fmt::format("reduction memory_tile: a core {}", timing.check(kernel));
    }
    return reason;
}

}  // namespace

TileSizes tile_sizes(const GemmProblem& problem, const WeightStationaryMapping& map,
                     const NpuConfig& config) {
    const std::int64_t word = config.cascade.width.count();
    return {map.m_ct * map.k_ct * bytes_of(problem.a), map.k_ct * map.n_ct * bytes_of(problem.b),
            ceil_div(map.m_ct * map.n_ct * bytes_of(problem.c), word) * word};
}

CorePlaces core_places(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                       const NpuConfig& config) {
    const TileSizes sizes = tile_sizes(problem, mapping, config);
    CorePlaces places{config.core.stack.count(), {}};
    std::int64_t end = places.b + sizes.b;
    for (std::int64_t turn = 0; turn < mapping.a_buffers; ++turn) {
        places.a.push_back(end);
        end += sizes.a + (turn == 0 ? sizes.c : 0);
    }
    return places;
}

SliceSpan ArrayShape::slices_of(std::int64_t column) const {
    return span_of(rows, column, columns);
}

SliceSpan ArrayShape::slices_on(std::int64_t b_stream) const {
    return span_of(rows, b_stream, b_streams);
}

std::int64_t ArrayShape::most_slices() const {
    return ceil_div(rows, columns);
}

ArrayShape shape_of(const GemmProblem& problem, const WeightStationaryMapping& map,
                    const NpuConfig& config) {
    ArrayShape shape;
    shape.columns = map.columns_of(config);
    shape.rows = map.rows_of(config);
    shape.adds = map.adds();
    shape.places = ShimColumns(config);
    shape.first_core_row = 1 + config.memory_rows;
    shape.m_tiles = ceil_div(problem.m, map.m_ct);
    shape.passes = ceil_div(problem.n, shape.columns * map.n_ct);
    // The tiles of several slices come in turn, which takes a descriptor's iteration.
    shape.m_tiles_a_task =
        shape.most_slices() == 1 ? shape.m_tiles : std::min(shape.m_tiles, kIterations);
    const std::int64_t others = shape.memory_outs() - shape.b_streams;
    shape.b_streams =
        std::max<std::int64_t>(1, std::min(shape.rows, config.memory_dma.channels - others));
    return shape;
}

std::vector<std::string> problems_of(const GemmProblem& problem, const WeightStationaryMapping& map,
                                     const NpuConfig& config) {
    const std::string kernel = kernel_problem(problem, map, config);
    if (!kernel.empty()) {
        return {kernel};
    }
    return Problems(problem, map, config).all();
}

}  // namespace tilesim::workloads::npu::weight_stationary
