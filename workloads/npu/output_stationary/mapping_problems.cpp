#include "workloads/npu/output_stationary/mapping_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "arch/base/units.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"
#include "workloads/npu/output_stationary/shape_problems.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;
using arch::base::ceil_div;

namespace {

// What of the kernel and of the counts the mapping asks for cannot be; further checks need these.
std::vector<std::string> basic_problems(const GemmProblem& problem,
                                        const OutputStationaryMapping& map,
                                        const NpuConfig& config) {
    if (map.sums_apart && map.cast_by_element && map.cast_lanes == 0) {
        return {"cast_by: element needs cast_lanes, the elements of an iteration"};
    }
    if (map.sums_apart && !is_float(problem.c)) {
        return {fmt::format("sums: f32 are cast to floats, not to {}; use sums: in_c",
                            name_of(problem.c))};
    }
    const program::Kernel kernel = multiply_kernel(problem, map);
    if (std::string reason = core::KernelTiming(config.kernels).check(kernel); !reason.empty()) {
        return {reason};
    }
    if (problem.a == DataType::Bfp16) {
        return {"bfp16 has no layout in words: eight elements are nine bytes"};
    }
    std::vector<std::string> problems;
    if (map.k_mt % map.k_ct != 0) {
        problems.push_back(
            fmt::format("k_mt ({}) must be a multiple of k_ct ({})", map.k_mt, map.k_ct));
    }
    if (map.b_k_mt % map.k_ct != 0) {
        problems.push_back(
            fmt::format("b_k_mt ({}) must be a multiple of k_ct ({})", map.b_k_mt, map.k_ct));
    }
    if (map.columns > ShimColumns::count(config) || map.rows > config.core_rows) {
        problems.push_back(fmt::format(
            "the mapping uses {} columns and {} rows of cores; the array has {} columns{} and {} "
            "rows",
            map.columns_of(config), map.rows_of(config), ShimColumns::count(config),
            config.shim_columns.empty() ? "" : " with a shim DMA", config.core_rows));
    }
    // What the run-time sequence holds for every round would fill the host's memory.
    constexpr std::int64_t kMostRounds = std::int64_t{1} << 18;
    const std::int64_t rounds =
        ceil_div(problem.m, map.m_ct * std::max<std::int64_t>(1, map.rows_of(config))) *
        ceil_div(problem.n, map.n_ct * std::max<std::int64_t>(1, map.columns_of(config)));
    if (rounds > kMostRounds) {
        problems.push_back(fmt::format(
            "{} x {} of C are {} rounds of the array with tiles of {} x {}; at most {} are "
            "simulated",
            problem.m, problem.n, rounds, map.m_ct, map.n_ct, kMostRounds));
    }
    if (config.memory_rows == 0) {
        problems.push_back(
            "the dataflow keeps blocks of A and B in memory tiles; the array has none");
    }
    return problems;
}

}  // namespace

std::vector<std::string> problems_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                                     const NpuConfig& config) {
    std::vector<std::string> problems = basic_problems(problem, map, config);
    if (!problems.empty()) {
        return problems;
    }
    const GemmView view = view_of(problem, map);
    const ArrayShape shape = shape_of(view, config);
    problems = shape_problems(shape, view, config);
    const BufferSizes sizes = buffer_sizes(view, config);
    if (!plan_core(sizes, view.map, config)) {
        const std::int64_t core = config.core.stack.count() + view.map.a_buffers * sizes.a_core +
                                  view.map.b_buffers * sizes.b_core + map.c_buffers * sizes.c_core +
                                  sizes.sum_core;
        const auto [a, b] = view.transposed ? std::pair{sizes.b_core, sizes.a_core}
                                            : std::pair{sizes.a_core, sizes.b_core};
        problems.push_back(fmt::format(
            "the core tile needs {} B (stack {} + {} x A {} + {} x B {} + {} x C {}{}), "
            "a core has {} "
            "B",
            core, config.core.stack.count(), map.a_buffers, a, map.b_buffers, b, map.c_buffers,
            sizes.c_core, map.sums_apart ? fmt::format(" + sums {}", sizes.sum_core) : "",
            config.core.memory.count()));
    }
    if (!plan_memory_tiles(sizes, shape, view.map, config)) {
        problems.push_back(fmt::format(
            "the memory tiles of a column need {} B, they have {} B and their neighbours have not "
            "enough left; reduce k_mt",
            shape.a_rows * view.map.a_blocks * sizes.a_block + view.map.b_blocks * sizes.b_block +
                shape.joins * sizes.c_join,
            config.memory_rows * config.memory_tile.memory.count()));
    }
    return problems;
}

}  // namespace tilesim::workloads::npu::output_stationary
