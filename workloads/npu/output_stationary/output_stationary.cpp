#include "workloads/npu/output_stationary/output_stationary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/core_lowering.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/memory_tile_lowering.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_routes.hpp"
#include "workloads/npu/output_stationary/output_stationary_sequence.hpp"
#include "workloads/npu/run_time_sequence.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

// All but the program.
LoweredGemm sized(const GemmView& view, const NpuConfig& config) {
    LoweredGemm lowered;
    lowered.shape = shape_of(view, config);
    const PaddedGemm size = padded(view, config);
    lowered.m = view.transposed ? size.n : size.m;
    lowered.k = size.k;
    lowered.n = view.transposed ? size.m : size.n;
    lowered.output_tiles = output_tiles(view, config);
    lowered.calls_per_tile = size.k / view.map.k_ct;
    return lowered;
}

}  // namespace

LoweredGemm lower(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                  const NpuConfig& config) {
    const auto problems = problems_of(problem, mapping, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.output_stationary: {}", fmt::join(problems, "; ")));
    }
    const GemmView view = view_of(problem, mapping);
    const MultiplyMode mode =
        *core::KernelTiming(config.kernels)
             .find_mode(problem.a, problem.b, sum_type(problem, mapping), mapping.mode);
    LoweredGemm lowered = sized(view, config);
    lowered.c_column_major = mapping.c_column_major;
    const BufferSizes sizes = buffer_sizes(view, config);
    const CorePlan core = plan_core(sizes, view.map, config).value();
    const auto memory_tiles = plan_memory_tiles(sizes, lowered.shape, view.map, config).value();
    lowered.core_bytes = core.used;
    for (const MemoryTilePlan& plan : memory_tiles) {
        lowered.memory_tile_bytes = std::max(lowered.memory_tile_bytes, plan.used);
    }

    program::Program& program = lowered.program;
    program.name = fmt::format("gemm_{}x{}x{}_{}_{}", problem.m, problem.k, problem.n,
                               name_of(problem.a), name_of(problem.c));
    place_arguments(program, {{"A", lowered.m * lowered.k * bytes_of(problem.a)},
                              {"B", lowered.k * lowered.n * bytes_of(problem.b)},
                              {"C", lowered.m * lowered.n * bytes_of(problem.c)}});
    program.kernels = kernels_of(problem, mapping);
    const CPackets packets = add_memory_tiles(lowered, view, mode, config, memory_tiles);
    const auto go_locks = add_cores(lowered, view, mode, config, core, packets);
    add_routes(program, lowered.shape, view.map);
    add_sequence(lowered, view, config, go_locks, packets.channels);
    return lowered;
}

}  // namespace tilesim::workloads::npu::output_stationary
