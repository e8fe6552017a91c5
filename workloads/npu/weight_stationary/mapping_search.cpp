#include "workloads/npu/weight_stationary/mapping_search.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <set>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/bank_conflicts.hpp"
#include "workloads/npu/mapping_steps.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using arch::base::ceil_div;
using arch::npu::NpuConfig;
using Reduction = WeightStationaryMapping::Reduction;

namespace {

// Cycles of a C tile on the core that does most: the first clears it, others get it word by word,
// all multiply, and all but the last put it on.
std::int64_t tile_cycles(const ArrayShape& shape, arch::npu::program::Kernel kernel,
                         std::int64_t c_bytes, const NpuConfig& config) {
    const arch::npu::core::KernelTiming timing(config.kernels);
    const std::int64_t multiply = timing.cycles(kernel).total().count();
    kernel.kind = arch::npu::program::KernelKind::Zero;
    const std::int64_t zero = timing.cycles(kernel).total().count();
    const bool cascade = !shape.adds && shape.rows > 1;
    const std::int64_t words = cascade ? ceil_div(c_bytes, config.cascade.width.count()) : 0;
    const std::int64_t first = zero + words;
    const std::int64_t middle = shape.rows > 2 ? 2 * words : words;
    return multiply + std::max(first, middle);
}

arch::npu::program::Kernel multiply_kernel(const GemmProblem& problem,
                                           const WeightStationaryMapping& map) {
    return {"multiply",
            arch::npu::program::KernelKind::Multiply,
            map.m_ct,
            map.k_ct,
            map.n_ct,
            problem.a,
            problem.b,
            problem.c,
            problem.b_column_major,
            std::nullopt};
}

// Steps of a pass: M tiles that are started together.
std::int64_t steps_of(const ArrayShape& shape) {
    return ceil_div(shape.m_tiles, shape.m_tiles_a_task);
}

// The command processor's, of a pass: tasks for A, B and C, a token for each of C's.
double commands_ns(const ArrayShape& shape, const NpuConfig& config) {
    std::int64_t senders = 0;
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        senders += shape.slices_of(column).count > 0 ? 1 : 0;
    }
    const std::int64_t steps = steps_of(shape);
    const auto& costs = config.command_processor;
    const arch::base::Cycles cycles =
        (steps * (senders + shape.columns) + shape.columns) * costs.task_cycles() +
        steps * shape.columns * costs.sync_cycles;
    return arch::base::ns_of(cycles, costs.clock);
}

// What memory and the way to it take.
double memory_ns(const GemmProblem& problem, const WeightStationaryMapping& map,
                 const ArrayShape& shape, const NpuConfig& config, const MemoryPath& path) {
    const std::int64_t m = shape.m_tiles * map.m_ct;
    const std::int64_t k = shape.rows * map.k_ct;
    const std::int64_t n = shape.passes * shape.columns * map.n_ct;
    const auto runs = [](std::int64_t elements, std::int64_t run, std::int64_t stride,
                         DataType type) {
        const std::int64_t bytes = bytes_of(type);
        return Runs{static_cast<double>(elements * bytes), run * bytes, stride * bytes};
    };
    const Runs a = runs(shape.passes * m * k, map.k_ct, k, problem.a);
    const Runs b = problem.b_column_major ? runs(k * n, map.k_ct, k, problem.b)
                                          : runs(k * n, map.n_ct, n, problem.b);
    const Runs c = runs(m * n, map.n_ct, n, problem.c);
    double port = 0;  // of the column that reads or writes most
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        const SliceSpan held = shape.slices_of(column);
        Runs slices = a;
        slices.bytes *= static_cast<double>(held.count) / static_cast<double>(shape.rows);
        slices.first = held.first * a.run;
        slices.next = held.count > 1 ? a.run : a.stride;
        const Runs own = problem.b_column_major ? in_own_rows(b, shape.columns)
                                                : of_column(b, column, shape.columns);
        port = std::max(port, path.fabric_ns(config.shim, {slices, own}, 1));
    }
    port = std::max(port, path.busiest_column_ns(config.shim, c, shape.columns));
    return std::max({port, path.writes_ns(config.shim, c, shape.columns),
                     path.fabric_ns(config.shim, {a, b}, shape.columns),
                     path.fabric_ns(config.shim, {c}, shape.columns),
                     path.answers_ns(config.shim, {a, b}, path.dram_bytes({a, b, c}),
                                     shape.columns * config.shim_dma.channels)});
}

// Cycles of bank conflicts a tile of C. Cores of a cascade wait for each other with every tile, and
// neighbours have different buffers of A under way: the slowest of these counts.
double conflicts_of_tile(const GemmProblem& problem, const WeightStationaryMapping& map,
                         const ArrayShape& shape, const NpuConfig& config) {
    const CorePlaces places = core_places(problem, map, config);
    const BankConflicts conflicts =
        bank_conflicts(config, multiply_kernel(problem, map), places.a, {places.b});
    return !shape.adds && shape.rows > 1 ? conflicts.most : conflicts.mean;
}

}  // namespace

GemmBounds bounds_of(const GemmProblem& problem, const WeightStationaryMapping& map,
                     const NpuConfig& config, const MemoryPath& path) {
    const ArrayShape shape = shape_of(problem, map, config);
    const arch::npu::core::KernelTiming timing(config.kernels);
    const arch::npu::program::Kernel kernel = multiply_kernel(problem, map);
    const std::int64_t a = map.m_ct * map.k_ct * bytes_of(problem.a);
    const std::int64_t b = map.k_ct * map.n_ct * bytes_of(problem.b);
    const std::int64_t c = map.m_ct * map.n_ct * bytes_of(problem.c);
    const std::int64_t call = timing.cycles(kernel).total().count();
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const auto passes = static_cast<double>(shape.passes);
    const auto tiles = static_cast<double>(shape.m_tiles);

    GemmBounds bounds;
    bounds.kernel_macs_per_cycle =
        static_cast<double>(map.m_ct * map.k_ct * map.n_ct) / static_cast<double>(call);
    bounds.peak_macs_per_cycle = timing.peak_macs(timing.mode_of(kernel));
    const auto stream = static_cast<double>(config.stream.width.count());
    const auto in_turn = static_cast<double>(tile_cycles(shape, kernel, c, config));
    bounds.compute_ns = passes * cycle_ns * (static_cast<double>(b) / stream + tiles * in_turn);
    const std::int64_t parts = shape.adds ? shape.rows : 1;
    const double tile_bytes = static_cast<double>(std::max(shape.most_slices() * a, parts * c));
    bounds.stream_ns = passes * cycle_ns / stream *
                       std::max(tiles * tile_bytes, static_cast<double>(shape.rows * b));
    const double read = passes * (tiles * static_cast<double>(shape.rows * a) +
                                  static_cast<double>(shape.rows * shape.columns * b));
    const double written = passes * tiles * static_cast<double>(shape.columns * c);
    bounds.dram_bytes = read + written;
    bounds.memory_ns = path.least_ns(config.shim, {read, written, ShimColumns::count(config)});
    return bounds;
}

double expected_ns(const GemmProblem& problem, const WeightStationaryMapping& map,
                   const NpuConfig& config, const MemoryPath& path) {
    const GemmBounds bounds = bounds_of(problem, map, config, path);
    const ArrayShape shape = shape_of(problem, map, config);
    const TileSizes tile = tile_sizes(problem, map, config);
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, config.clock);
    const auto stream_ns = [&](std::int64_t bytes) {
        return static_cast<double>(bytes) / static_cast<double>(config.stream.width.count()) *
               cycle_ns;
    };
    constexpr double kLocksOfTile = 4;  // A's and C's, taken and given
    const auto tiles = static_cast<double>(shape.passes * shape.m_tiles);
    // A single C tile leaves before the next one begins.
    const double cores_ns =
        bounds.compute_ns +
        tiles * ((kLocksOfTile * static_cast<double>(config.core.lock_cycles.count()) +
                  conflicts_of_tile(problem, map, shape, config)) *
                     cycle_ns +
                 (map.c_buffers == 1 ? stream_ns(tile.c) : 0.0));
    const double tile_ns =
        (cores_ns - static_cast<double>(shape.passes) * stream_ns(tile.b)) / tiles;
    // Before any work come B's tiles, one after the other, and A's beside them; after the last of
    // them a C tile goes from core to core, and out.
    const double first_ns = stream_ns(std::max(shape.rows * tile.b, 2 * tile.a));
    const double last_ns = static_cast<double>(shape.rows - 1) * tile_ns + stream_ns(2 * tile.c);
    // The tasks of a step come before all it moves, those of the next ones while it does.
    const auto steps = static_cast<double>(shape.passes * steps_of(shape));
    const double commands = commands_ns(shape, config) / static_cast<double>(steps_of(shape));
    const double moving = std::max(bounds.stream_ns, memory_ns(problem, map, shape, config, path));
    const double alone = commands + std::max(first_ns + cores_ns / steps, moving / steps + tile_ns);
    return arch::base::ns_of(config.command_processor.dispatch) + alone +
           (steps - 1) * std::max({commands, cores_ns / steps, moving / steps}) + last_ns;
}

namespace {

TileCandidate evaluated(const GemmProblem& problem, const WeightStationaryMapping& map,
                        const NpuConfig& config, const MemoryPath& path) {
    return {map, bounds_of(problem, map, config, path), expected_ns(problem, map, config, path)};
}

// On a part of the array, one step or three and their doubles: the parts together have no more
// tiles than the whole.
bool is_tried(const WeightStationaryMapping& map, std::int64_t tile) {
    const auto steps = static_cast<std::uint64_t>(tile / kTileStep);
    const bool whole = map.columns == 0 && map.rows == 0;
    return whole || std::has_single_bit(steps) ||
           (steps % 3 == 0 && std::has_single_bit(steps / 3));
}

// Columns of B's tiles: by steps, and the least that cover N in as many passes, between them too.
std::set<std::int64_t> widths_of(const GemmProblem& problem, const WeightStationaryMapping& map,
                                 const NpuConfig& config) {
    const std::int64_t columns = map.columns_of(config);
    const std::int64_t most = most_tile(problem.n, columns, kTileStep);
    std::set<std::int64_t> widths;
    for (std::int64_t n_ct = kTileStep; n_ct <= most; n_ct += kTileStep) {
        if (is_tried(map, n_ct)) {
            widths.insert(n_ct);
        }
        const std::int64_t passes = ceil_div(problem.n, columns * n_ct);
        widths.insert(covering_tile(problem.n, columns * passes));
    }
    return widths;
}

// Rows of A's and C's tiles.
std::vector<std::int64_t> heights_of(const GemmProblem& problem,
                                     const WeightStationaryMapping& map) {
    const std::int64_t most = most_tile(problem.m, 1, kTileStep);
    std::vector<std::int64_t> heights;
    for (std::int64_t m_ct = kTileStep; m_ct <= most; m_ct += kTileStep) {
        if (is_tried(map, m_ct)) {
            heights.push_back(m_ct);
        }
    }
    return heights;
}

// Tiles of every size.
void add_tiles(std::vector<WeightStationaryMapping>& mappings, const GemmProblem& problem,
               WeightStationaryMapping map, const NpuConfig& config) {
    using Sizes = std::vector<std::int64_t>;
    const std::set<std::int64_t> all_widths = widths_of(problem, map, config);
    const Sizes heights = map.m_ct > 0 ? Sizes{map.m_ct} : heights_of(problem, map);
    const Sizes widths =
        map.n_ct > 0 ? Sizes{map.n_ct} : Sizes(all_widths.begin(), all_widths.end());
    for (const std::int64_t m_ct : heights) {
        for (const std::int64_t n_ct : widths) {
            map.m_ct = m_ct;
            map.n_ct = n_ct;
            for (map.c_buffers = 1; map.c_buffers <= 2; ++map.c_buffers) {
                mappings.push_back(map);
            }
        }
    }
}

}  // namespace

std::vector<WeightStationaryMapping> mappings_of(const GemmProblem& problem,
                                                 const WeightStationaryMapping& stated,
                                                 const NpuConfig& config) {
    std::vector<WeightStationaryMapping> mappings;
    const auto* mode =
        arch::npu::core::KernelTiming(config.kernels).find_mode(problem.a, problem.b, problem.c);
    if (mode == nullptr) {
        return mappings;
    }
    // 0: all of them.
    const auto parts = [](std::int64_t given, std::int64_t all) {
        std::vector<std::int64_t> counts;
        for (const std::int64_t part : parts_of(all)) {
            counts.push_back(part == all ? 0 : part);
        }
        return given > 0 ? std::vector<std::int64_t>{given} : counts;
    };
    for (const Reduction reduction : {Reduction::Cascade, Reduction::MemoryTile}) {
        WeightStationaryMapping map = stated;
        map.reduction = reduction;
        map.rows = 0;
        for (const std::int64_t rows : parts(stated.rows, map.rows_of(config))) {
            map.rows = rows;
            map.k_ct = stated.k_ct > 0
                           ? stated.k_ct
                           : ceil_div(problem.k, map.rows_of(config) * mode->s) * mode->s;
            for (const std::int64_t columns : parts(stated.columns, ShimColumns::count(config))) {
                map.columns = columns;
                add_tiles(mappings, problem, map, config);
            }
        }
    }
    return mappings;
}

std::vector<TileCandidate> candidates_of(const GemmProblem& problem,
                                         const std::vector<WeightStationaryMapping>& mappings,
                                         const NpuConfig& config, const MemoryPath& path) {
    std::vector<TileCandidate> candidates;
    for (const WeightStationaryMapping& map : mappings) {
        if (problems_of(problem, map, config).empty()) {
            candidates.push_back(evaluated(problem, map, config, path));
        }
    }
    return candidates;
}

std::vector<TileCandidate> variants_of(const GemmProblem& problem,
                                       const WeightStationaryMapping& mapping,
                                       const NpuConfig& config, const MemoryPath& path) {
    std::vector<TileCandidate> variants;
    using Map = WeightStationaryMapping;
    const auto add = [&](std::int64_t Map::*member, std::initializer_list<std::int64_t> values) {
        for (const std::int64_t value : values) {
            Map map = mapping;
            map.*member = value;
            if (value != mapping.*member && problems_of(problem, map, config).empty()) {
                variants.push_back(evaluated(problem, map, config, path));
            }
        }
    };
    add(&Map::a_buffers, {1, 2, 3, 4});
    add(&Map::c_buffers, {1, 2});
    for (const auto member : {&Map::m_ct, &Map::n_ct}) {
        const std::int64_t tile = mapping.*member;
        add(member, {tile / 2, 2 * tile, tile - kTileStep, tile - kFineStep, tile + kFineStep,
                     tile + kTileStep});
    }
    // A slice of K that pads a little may have its buffers in other banks.
    add(&Map::k_ct, {mapping.k_ct + kFineStep, mapping.k_ct + kTileStep});
    return variants;
}

}  // namespace tilesim::workloads::npu::weight_stationary
