#include "workloads/npu/output_stationary/expected_time.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "arch/base/units.hpp"
#include "workloads/npu/bank_conflicts.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::ceil_div;

std::int64_t tiles_of(const SearchContext& at, const OutputStationaryMapping& map) {
    return ceil_div(at.problem.m, map.m_ct * map.rows_of(at.config)) *
           ceil_div(at.problem.n, map.n_ct * map.columns_of(at.config));
}

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

namespace {

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
                const RoundRuns& runs) {
    const arch::npu::ShimConfig& shim = at.config.shim;
    const std::int64_t columns = map.columns_of(at.config);
    return std::max(
        {at.path.answers_ns(shim, {runs.a, runs.b}, at.path.dram_bytes({runs.a, runs.b, runs.c}),
                            columns * at.config.shim_dma.channels),
         at.path.fabric_ns(shim, {runs.a, runs.b}, columns), busiest_port_ns(at, map, runs),
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
// row, some of them at a time.
double c_leaves_ns(const SearchContext& at, const OutputStationaryMapping& map,
                   const Rounds& rounds, const RoundRuns& runs) {
    const std::int64_t columns = map.columns_of(at.config);
    const ArrayShape shape = shape_of(view_of(at.problem, map), at.config);
    const double fabric =
        std::max({at.path.fabric_ns(at.config.shim, {runs.c}, columns),
                  at.path.busiest_column_ns(at.config.shim, runs.c, columns),
                  at.path.writes_ns(at.config.shim, runs.c, shape.columns * shape.c_out)});
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
    const double reads = reads_ns(at, map, runs);
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

}  // namespace tilesim::workloads::npu::output_stationary
