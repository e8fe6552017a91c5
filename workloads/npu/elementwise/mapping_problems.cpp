#include "workloads/npu/elementwise/mapping_problems.hpp"

#include <algorithm>
#include <numeric>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;

std::vector<std::string> problems_of(const ElementwiseProblem& problem,
                                     const ElementwiseMapping& map, const NpuConfig& config) {
    check::ProblemList problems;
    const std::string reason =
        core::KernelTiming(config.kernels).check(kernel_of(problem, map.rows_per_call));
    problems.require(reason.empty(), "{}", reason);
    problems.require(map.cast_lanes == 0 || problem.operation == program::VectorOperation::Cast,
                     "cast_lanes is for casts, not for {}", name_of(problem.operation));
    problems.require(map.columns_of(config) <= ShimColumns::count(config),
                     "the mapping uses {} columns, the array has {}{}", map.columns,
                     ShimColumns::count(config),
                     config.shim_columns.empty() ? "" : " with a shim DMA");
    const RowBytes row = row_bytes(problem);
    const std::int64_t operands = problem.has_b() ? 2 : 1;
    problems.require(std::min(config.shim_dma.channels, config.core_dma.channels) >= operands,
                     "{} operands come on a stream each; shims and cores have {} and {} channels",
                     operands, config.shim_dma.channels, config.core_dma.channels);
    for (const std::int64_t bytes :
         {map.rows_per_call * row.a, map.rows_per_call * row.b, map.rows_per_call * row.c}) {
        problems.require(bytes % kWordBytes == 0,
                         "a call's rows are {} B, no whole words of {} B; use a multiple of {} "
                         "rows_per_call",
                         bytes, kWordBytes, kWordBytes);
        const std::int64_t most = longest_transfer(config.core_dma);
        problems.require(bytes / kWordBytes <= most,
                         "a core's descriptor moves {} words, at most {}; use fewer "
                         "rows_per_call, or rows of fewer elements",
                         bytes / kWordBytes, most);
    }
    const auto buffers = core_buffers(problem, map);
    const std::int64_t needed =
        std::accumulate(buffers.begin(), buffers.end(), config.core.stack.count());
    problems.require(needed <= config.core.memory.count(),
                     "a core needs {} B for {} buffers of {} rows of each operand and its "
                     "stack, it has {} B; use fewer rows_per_call or buffers",
                     needed, map.buffers, map.rows_per_call, config.core.memory.count());
    return problems.take_problems();
}

}  // namespace tilesim::workloads::npu::elementwise
