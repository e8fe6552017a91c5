#include "workloads/npu/output_stationary/mapping_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/bank_conflicts.hpp"
#include "workloads/npu/mapping_steps.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;
using arch::npu::NpuConfig;

namespace {

TileCandidate evaluated(const SearchContext& at, const OutputStationaryMapping& map) {
    const GemmBounds bounds = bounds_of(at.problem, map, at.config, at.path);
    return {map, bounds, expected_ns(at, map, bounds), least_ns(at, map, bounds)};
}

// With descriptors of an output tile, and of a row of blocks where that is expected to be faster: a
// product of a few rounds waits for its descriptors more than for anything a tile changes.
void add_reaches(std::vector<TileCandidate>& candidates, const SearchContext& at,
                 OutputStationaryMapping map) {
    const double tile_ns = candidates.emplace_back(evaluated(at, map)).expected_ns;
    map.reach = OutputStationaryMapping::Reach::BlockRow;
    if (problems_of(at.problem, map, at.config).empty()) {
        if (TileCandidate row = evaluated(at, map); row.expected_ns < tile_ns) {
            candidates.push_back(std::move(row));
        }
    }
}

bool on_all_cores(const OutputStationaryMapping& map) {
    return map.columns == 0 && map.rows == 0;
}

// Core tiles of a block along K; on a part of the array doubles, and those of blocks that pad
// nothing.
std::vector<std::int64_t> blocks_of(const SearchContext& at, const OutputStationaryMapping& map) {
    const std::int64_t calls = ceil_div(at.problem.k, map.k_ct);
    std::vector<std::int64_t> blocks;
    for (const std::int64_t each : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
        const bool aligned = std::has_single_bit(static_cast<std::uint64_t>(each));
        if (on_all_cores(map) || aligned || calls % each == 0) {
            blocks.push_back(each);
        }
    }
    if (!on_all_cores(map) && calls > blocks.back()) {
        blocks.push_back(calls);
    }
    return blocks;
}

// Tiles of C of a core.
std::int64_t tiles_of(const SearchContext& at, const OutputStationaryMapping& map) {
    return ceil_div(at.problem.m, map.m_ct * map.rows_of(at.config)) *
           ceil_div(at.problem.n, map.n_ct * map.columns_of(at.config));
}

// Every block length along K, C single- and double-buffered, of one core tile.
void add_core_tile(std::vector<TileCandidate>& candidates, const SearchContext& at,
                   OutputStationaryMapping map) {
    const std::int64_t most_c = std::min<std::int64_t>(2, tiles_of(at, map));
    for (map.c_buffers = 1; map.c_buffers <= most_c; ++map.c_buffers) {
        for (const std::int64_t blocks : blocks_of(at, map)) {
            map.k_mt = map.k_ct * blocks;
            if (blocks > 1 && map.k_mt >= at.problem.k + map.k_ct) {
                break;  // padding alone
            }
            if (!problems_of(at.problem, map, at.config).empty()) {
                if (blocks == 1) {
                    return;  // what does not fit now fits with nothing more
                }
                continue;
            }
            add_reaches(candidates, at, map);
        }
    }
}

// Tiles that cover an extent.
struct Sizes {
    std::int64_t extent = 0;
    std::int64_t cores = 1;          // that share it
    std::int64_t apart = kTileStep;  // what is tried on all cores
    std::int64_t most = 0;
    std::vector<std::int64_t> steps;  // an mmul, and longer ones, which make aligned runs
};

// The least tiles of whole steps that cover the extent in so many rounds. A part of the array has
// one round or two, or half as many again, and their doubles.
std::set<std::int64_t> sizes_of(const Sizes& of, bool all) {
    std::set<std::int64_t> sizes;
    const auto add = [&](std::int64_t rounds) {
        for (const std::int64_t step : of.steps) {
            const std::int64_t size = covering_tile(of.extent, of.cores * rounds, step);
            if (size <= of.most) {
                sizes.insert(size);
            }
        }
    };
    if (all) {
        const std::int64_t largest =
            std::min(of.most, covering_tile(of.extent, of.cores, kTileStep));
        for (std::int64_t size = of.apart; size <= largest; size += of.apart) {
            add(ceil_div(of.extent, of.cores * size));
        }
        add(2);
        return sizes;
    }
    for (std::int64_t rounds = 1; rounds * of.cores <= of.extent; rounds *= 2) {
        add(rounds);
        add(rounds * 3);
    }
    return sizes;
}

void add_tiles(std::vector<TileCandidate>& candidates, const SearchContext& at,
               OutputStationaryMapping map, const arch::npu::MultiplyMode& mode) {
    const GemmProblem& problem = at.problem;
    const std::int64_t core_memory = at.config.core.memory.count();
    const bool all = on_all_cores(map);
    constexpr std::int64_t kMost = 512;
    constexpr std::int64_t kDeepest = 256;
    const auto along_runs = [](std::int64_t mmul) {
        return std::vector<std::int64_t>{mmul, kTileStep, 2 * kTileStep, 4 * kTileStep};
    };
    const auto all_m =
        sizes_of({problem.m, map.rows_of(at.config), kTileStep, kMost, {mode.r, kTileStep}}, all);
    const auto all_n =
        sizes_of({problem.n, map.columns_of(at.config), kTileStep, kMost, along_runs(mode.t)}, all);
    const std::int64_t deepest = std::min(kDeepest, covering_tile(problem.k, 1, kTileStep));
    const auto all_k = sizes_of({problem.k, 1, mode.s, deepest, along_runs(mode.s)}, all);
    for (const std::int64_t m_ct : all_m) {
        map.m_ct = m_ct;
        for (const std::int64_t n_ct : all_n) {
            map.n_ct = n_ct;
            for (const std::int64_t k_ct : all_k) {
                map.k_ct = k_ct;
                const std::int64_t least =
                    map.a_buffers * map.m_ct * map.k_ct * bytes_of(problem.a) +
                    map.b_buffers * map.k_ct * map.n_ct * bytes_of(problem.b) +
                    map.m_ct * map.n_ct * bytes_of(problem.c);
                if (least > core_memory) {
                    break;
                }
                add_core_tile(candidates, at, map);
            }
        }
    }
}

// What the command processor does: it starts the transfers of a reach together.
struct Reaches {
    double count = 0;
    double commands_ns = 0;  // of one: a descriptor and a task a transfer, a token where C leaves
    double in_flight = 0;
};

Reaches reaches_of(const SearchContext& at, const OutputStationaryMapping& map, double tiles) {
    const GemmView view = view_of(at.problem, map);
    const ArrayShape shape = shape_of(view, at.config);
    const PaddedGemm size = padded(view, at.config);
    std::int64_t transfers =
        shape.columns * (std::min(shape.b_in, size.k / view.b_block_k) + shape.c_out);
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        const std::int64_t held = shape.rows_of_a(column).count;
        const std::int64_t blocks = held > 1 ? shape.a_in : size.k / view.a_block_k;
        transfers += held == 0 ? 0 : std::min(shape.a_streams(column, view.map), blocks);
    }
    const auto& costs = at.config.command_processor;
    const arch::base::Cycles cycles =
        transfers * costs.task_cycles() + shape.columns * shape.c_out * costs.sync_cycles;
    return {tiles / static_cast<double>(reach_steps(view, shape, at.config).tiles),
            arch::base::ns_of(cycles, costs.clock), static_cast<double>(shape.in_flight)};
}

// A run as rounds of the whole array, each a tile of C on every core.
struct Rounds {
    double m = 0, n = 0, k = 0;  // padded
    double count = 0;
    double calls = 0;        // of a core, a round
    double work_ns = 0;      // of a core, a round: all it does one after the other
    double c_leaves_ns = 0;  // a core's C tile, on its stream
    Reaches reaches;
};

Rounds rounds_of(const SearchContext& at, const OutputStationaryMapping& map,
                 const GemmBounds& bounds) {
    const double cycle_ns = arch::base::ns_of(arch::base::Cycles{1}, at.config.clock);
    const auto padded = [](std::int64_t x, std::int64_t to) {
        return static_cast<double>(ceil_div(x, to) * to);
    };
    const std::int64_t rows = map.m_ct * map.rows_of(at.config);
    const std::int64_t columns = map.n_ct * map.columns_of(at.config);
    Rounds rounds;
    rounds.m = padded(at.problem.m, rows);
    rounds.n = padded(at.problem.n, columns);
    rounds.k = padded(at.problem.k, map.k_mt);
    rounds.count = static_cast<double>(tiles_of(at, map));
    rounds.calls = rounds.k / static_cast<double>(map.k_ct);
    const auto c_bytes = static_cast<double>(map.m_ct * map.n_ct * bytes_of(at.problem.c));
    rounds.c_leaves_ns = c_bytes / static_cast<double>(at.config.stream.width.count()) * cycle_ns;
    // A call takes and gives two locks; a single C tile leaves before the next one begins.
    constexpr double kLocksOfCall = 4;
    rounds.work_ns = bounds.compute_ns / rounds.count +
                     rounds.calls * kLocksOfCall *
                         static_cast<double>(at.config.core.lock_cycles.count()) * cycle_ns +
                     (map.c_buffers == 1 ? rounds.c_leaves_ns : 0.0);
    rounds.reaches = reaches_of(at, map, rounds.count);
    return rounds;
}

}  // namespace

double least_ns(const SearchContext& at, const OutputStationaryMapping& map,
                const GemmBounds& bounds) {
    const Rounds rounds = rounds_of(at, map, bounds);
    return ns_of(at.config.command_processor.dispatch) +
           std::max({rounds.work_ns * rounds.count,
                     rounds.reaches.commands_ns * rounds.reaches.count, bounds.stream_ns,
                     bounds.memory_ns});
}

namespace {

// What every round reads and writes, in the runs of its tiles.
struct RoundRuns {
    Runs a, b, c;
    // B by rows: what all columns read of a row of it, which lies together.
    Runs b_of_columns;
};

RoundRuns runs_of(const SearchContext& at, const OutputStationaryMapping& map,
                  const Rounds& rounds) {
    const GemmProblem& problem = at.problem;
    const std::int64_t columns = map.columns_of(at.config);
    const auto rows = static_cast<double>(map.m_ct * map.rows_of(at.config));
    const auto k = static_cast<std::int64_t>(rounds.k);
    const auto n = static_cast<std::int64_t>(rounds.n);
    const auto runs = [](double elements, std::int64_t run, std::int64_t stride, DataType type) {
        const std::int64_t bytes = bytes_of(type);
        return Runs{elements * static_cast<double>(bytes), run * bytes, stride * bytes};
    };
    const double a = rounds.m * rounds.k * (rounds.n / static_cast<double>(map.n_ct * columns));
    const double b = rounds.n * rounds.k * (rounds.m / rows);
    const std::int64_t b_k_mt = map.b_k_mt > 0 ? map.b_k_mt : map.k_mt;
    const Runs b_runs =
        problem.b_column_major ? runs(b, b_k_mt, k, problem.b) : runs(b, map.n_ct, n, problem.b);
    return {runs(a, map.k_mt, k, problem.a), b_runs,
            runs(rounds.m * rounds.n, map.n_ct, n, problem.c),
            problem.b_column_major ? b_runs : runs(b, map.n_ct * columns, n, problem.b)};
}

// Pages whose translation the fabric fetches: those of a panel stay known while they are few.
double page_walks(const SearchContext& at, const OutputStationaryMapping& map,
                  const RoundRuns& runs) {
    const std::int64_t page = at.path.fabric.page.count();
    const std::int64_t rows =
        map.m_ct * map.rows_of(at.config) +
        (at.problem.b_column_major ? map.n_ct * map.columns_of(at.config) : 0);
    const bool known = rows * ceil_div(runs.a.run, page) <= at.path.fabric.known_pages;
    const auto walks = [&](const Runs& each, bool again) {
        return again ? each.bytes / static_cast<double>(page) : pieces_of(each, page);
    };
    return walks(runs.a, known) + walks(runs.b_of_columns, known && at.problem.b_column_major);
}

// What the port of the column takes that reads most: all read B, not all hold rows of A, and one's
// part of a row may begin where it touches more pieces than another's.
double busiest_port_ns(const SearchContext& at, const OutputStationaryMapping& map,
                       const RoundRuns& runs) {
    const GemmView view = view_of(at.problem, map);
    const ArrayShape shape = shape_of(view, at.config);
    const auto& [along_rows, along_columns] =
        view.transposed ? std::tie(runs.b, runs.a) : std::tie(runs.a, runs.b);
    double busiest = 0;
    for (std::int64_t column = 0; column < shape.columns; ++column) {
        Runs of_rows = along_rows;
        of_rows.bytes *=
            static_cast<double>(shape.rows_of_a(column).count) / static_cast<double>(shape.rows);
        const Runs own = view.transposed || at.problem.b_column_major
                             ? in_own_rows(along_columns, shape.columns)
                             : of_column(along_columns, column, shape.columns);
        busiest = std::max(busiest, at.path.fabric_ns(at.config.shim, {of_rows, own}, 1));
    }
    return busiest;
}

// What reads take: DRAM and its answers; fabric; page walks.
double reads_ns(const SearchContext& at, const OutputStationaryMapping& map,
                const GemmBounds& bounds, const RoundRuns& runs) {
    const arch::npu::ShimConfig& shim = at.config.shim;
    const std::int64_t columns = map.columns_of(at.config);
    return std::max({at.path.answers_ns(shim, {runs.a, runs.b}, bounds.dram_bytes,
                                        columns * at.config.shim_dma.channels),
                     at.path.fabric_ns(shim, {runs.a, runs.b}, columns),
                     busiest_port_ns(at, map, runs),
                     page_walks(at, map, runs) * ns_of(at.path.fabric.page_walk)});
}

// A core's, a round: its calls lose them where buffers of A and B share banks.
double conflicts_ns(const SearchContext& at, const OutputStationaryMapping& map,
                    const Rounds& rounds) {
    const GemmView view = view_of(at.problem, map);
    const auto plan = plan_core(buffer_sizes(view, at.config), view.map, at.config);
    if (!plan) {
        return 0;
    }
    const auto& [a, b] = view.transposed ? std::tie(plan->b, plan->a) : std::tie(plan->a, plan->b);
    return rounds.calls * bank_conflicts(at.config, multiply_kernel(at.problem, map), a, b).mean *
           arch::base::ns_of(arch::base::Cycles{1}, at.config.clock);
}

// A round's C: a word a cycle through a column's shim, and through the fabric in runs of a tile's
// row.
double c_leaves_ns(const SearchContext& at, const OutputStationaryMapping& map,
                   const Rounds& rounds, const RoundRuns& runs) {
    const std::int64_t columns = map.columns_of(at.config);
    const double fabric = std::max(at.path.fabric_ns(at.config.shim, {runs.c}, columns),
                                   at.path.busiest_column_ns(at.config.shim, runs.c, columns));
    return std::max(static_cast<double>(map.rows_of(at.config)) * rounds.c_leaves_ns,
                    fabric / rounds.count);
}

}  // namespace

double least_period_ns(const SearchContext& at, const OutputStationaryMapping& map) {
    const Rounds rounds = rounds_of(at, map, bounds_of(at.problem, map, at.config, at.path));
    const RoundRuns runs = runs_of(at, map, rounds);
    return std::max(c_leaves_ns(at, map, rounds, runs),
                    at.path.dram_ns({runs.a, runs.b, runs.c}) / rounds.count);
}

namespace {

// The first blocks of A and B, of all that is read.
double first_blocks(const SearchContext& at, const OutputStationaryMapping& map,
                    const Rounds& rounds, const RoundRuns& runs) {
    const GemmView view = view_of(at.problem, map);
    const double of_a = static_cast<double>(view.transposed ? view.b_block_k : view.a_block_k);
    const double of_b = static_cast<double>(view.transposed ? view.a_block_k : view.b_block_k);
    return (runs.a.bytes * of_a + runs.b.bytes * of_b) / (runs.a.bytes + runs.b.bytes) /
           (rounds.count * rounds.k);
}

}  // namespace

double expected_ns(const SearchContext& at, const OutputStationaryMapping& map,
                   const GemmBounds& bounds) {
    Rounds rounds = rounds_of(at, map, bounds);
    rounds.work_ns += conflicts_ns(at, map, rounds);
    const RoundRuns runs = runs_of(at, map, rounds);
    const double reads = reads_ns(at, map, bounds, runs);
    const double work = rounds.work_ns * rounds.count;
    const double c_leaves = c_leaves_ns(at, map, rounds, runs);
    // The first blocks have come whole before any work; after the last ones comes their work.
    const double first = first_blocks(at, map, rounds, runs);
    const double fed = std::max(reads, bounds.stream_ns);
    const double moving =
        std::max({work + fed * first, fed + std::max(work, bounds.stream_ns) * first,
                  c_leaves * (rounds.count - 1)});
    // The tasks of a reach come before all it moves, those of the next ones while it does, as far
    // as they may be ahead; after the last one its last C leaves.
    const Reaches& reaches = rounds.reaches;
    const double alone = reaches.commands_ns + moving / reaches.count;
    const double period =
        std::max({reaches.commands_ns, moving / reaches.count, alone / reaches.in_flight});
    return ns_of(at.config.command_processor.dispatch) + alone + (reaches.count - 1) * period +
           c_leaves;
}

std::vector<TileCandidate> candidates_of(const SearchContext& at) {
    std::vector<TileCandidate> candidates;
    const arch::npu::core::KernelTiming timing(at.config.kernels);
    const auto* mode = timing.find_mode(at.problem.a, at.problem.b, at.problem.c);
    if (mode == nullptr || at.config.memory_rows == 0) {
        return candidates;
    }
    add_tiles(candidates, at, {}, *mode);
    double least_ns = std::numeric_limits<double>::infinity();
    for (const TileCandidate& each : candidates) {
        least_ns = std::min(least_ns, each.expected_ns);
    }
    // A part of the array has fewer transfers to start, which is most of a small product. One whose
    // cores at their peak take longer than all of them are expected to take, is none.
    OutputStationaryMapping part;
    const std::int64_t all = ShimColumns::count(at.config);
    const double peak_ns = at.problem.macs() / static_cast<double>(timing.peak_macs(*mode)) *
                           arch::base::ns_of(arch::base::Cycles{1}, at.config.clock);
    for (const std::int64_t columns : parts_of(all)) {
        for (const std::int64_t rows : parts_of(at.config.core_rows)) {
            part.columns = columns;
            part.rows = rows;
            const bool whole = columns == all && rows == at.config.core_rows;
            if (!whole && ns_of(at.config.command_processor.dispatch) +
                                  peak_ns / static_cast<double>(columns * rows) <
                              least_ns) {
                add_tiles(candidates, at, part, *mode);
            }
        }
    }
    return candidates;
}

namespace {

// Half or twice the columns or rows of cores, with tiles as they are and with tiles of twice or
// half the size, and blocks as they are and as long as K; k tiles of half and twice the size.
std::vector<OutputStationaryMapping> other_extents(const OutputStationaryMapping& mapping,
                                                   const SearchContext& at) {
    std::vector<OutputStationaryMapping> list;
    const std::int64_t columns = mapping.columns_of(at.config);
    const std::int64_t rows = mapping.rows_of(at.config);
    const std::int64_t whole_k = ceil_div(at.problem.k, mapping.k_ct) * mapping.k_ct;
    for (const std::int64_t k_mt : std::set{mapping.k_mt, whole_k}) {
        OutputStationaryMapping other = mapping;
        other.k_mt = k_mt;
        const auto add = [&](std::int64_t OutputStationaryMapping::*cores, std::int64_t count,
                             std::int64_t OutputStationaryMapping::*tile, std::int64_t size) {
            if (count == 0) {  // which would be all of them
                return;
            }
            OutputStationaryMapping each = other;
            each.*cores = count;
            for (const std::int64_t extent : std::set{each.*tile, size}) {
                each.*tile = extent;
                list.push_back(each);
            }
        };
        add(&OutputStationaryMapping::columns, columns / 2, &OutputStationaryMapping::n_ct,
            2 * mapping.n_ct);
        add(&OutputStationaryMapping::rows, rows / 2, &OutputStationaryMapping::m_ct,
            2 * mapping.m_ct);
        add(&OutputStationaryMapping::columns, 2 * columns, &OutputStationaryMapping::n_ct,
            mapping.n_ct / 2);
        add(&OutputStationaryMapping::rows, 2 * rows, &OutputStationaryMapping::m_ct,
            mapping.m_ct / 2);
    }
    // A block has whole tiles.
    const std::int64_t calls = ceil_div(at.problem.k, mapping.k_ct);
    for (const std::int64_t k_ct :
         {mapping.k_ct / 2, 2 * mapping.k_ct, covering_tile(at.problem.k, calls + 1),
          covering_tile(at.problem.k, std::max<std::int64_t>(1, calls - 1))}) {
        if (k_ct > 0 && k_ct != mapping.k_ct) {
            OutputStationaryMapping other = mapping;
            other.k_ct = k_ct;
            other.k_mt = ceil_div(mapping.k_mt, k_ct) * k_ct;
            list.push_back(other);
        }
    }
    return list;
}

}  // namespace

std::vector<TileCandidate> variants_of(const SearchContext& at,
                                       const OutputStationaryMapping& mapping) {
    std::vector<TileCandidate> variants;
    const auto add_fitting = [&](const OutputStationaryMapping& map) {
        const bool fits = problems_of(at.problem, map, at.config).empty();
        if (fits) {
            variants.push_back(evaluated(at, map));
        }
        return fits;
    };
    const auto add = [&](auto member, std::initializer_list<std::int64_t> values) {
        for (const std::int64_t value : values) {
            OutputStationaryMapping map = mapping;
            map.*member = value;
            if (map.*member != mapping.*member) {
                add_fitting(map);
            }
        }
    };
    using Map = OutputStationaryMapping;
    add(&Map::a_buffers, {1, 2, 3, 4});
    add(&Map::b_buffers, {1, 2, 3, 4});
    add(&Map::c_buffers, {1, std::min<std::int64_t>(2, tiles_of(at, mapping))});
    const Reaches reaches = reaches_of(at, mapping, static_cast<double>(tiles_of(at, mapping)));
    const auto ahead = static_cast<std::int64_t>(std::min(reaches.in_flight, reaches.count));
    for (const std::int64_t in_flight : {1, 2, 3}) {
        if (in_flight < ahead) {
            add(&Map::in_flight, {in_flight});
        }
    }
    if (mapping.in_flight > 0) {
        add(&Map::in_flight, {0});
    }
    if (at.config.shim_dma.channels >= 4) {  // a second stream of an operand has its own tasks
        add(&Map::shim_channels, {0, 2});
    }
    OutputStationaryMapping reach = mapping;
    reach.reach =
        mapping.reach == Map::Reach::BlockRow ? Map::Reach::OutputTile : Map::Reach::BlockRow;
    if (tiles_of(at, mapping) > 1) {
        add_fitting(reach);
    }
    for (OutputStationaryMapping other : other_extents(mapping, at)) {
        // A larger tile may leave no room for what the smaller one has beside it.
        if (!add_fitting(other)) {
            other.c_buffers = 1;
            other.a_buffers = std::min<std::int64_t>(2, other.a_buffers);
            other.b_buffers = std::min<std::int64_t>(2, other.b_buffers);
            add_fitting(other);
        }
    }
    // Neighbours of the tile, also between the steps of the search.
    for (const std::int64_t step : {-16, -8, 8, 16}) {
        add(&Map::m_ct, {mapping.m_ct + step});
        add(&Map::n_ct, {mapping.n_ct + step});
    }
    // And tiles of half and twice the size: fewer tasks, or a shorter way in and out.
    add(&Map::m_ct, {mapping.m_ct / 2, 2 * mapping.m_ct});
    add(&Map::n_ct, {mapping.n_ct / 2, 2 * mapping.n_ct});
    for (std::int64_t blocks = 1; blocks <= 16; ++blocks) {
        add(&Map::k_mt, {mapping.k_ct * blocks});
    }
    return variants;
}

}  // namespace tilesim::workloads::npu::output_stationary
