#include "workloads/npu/elementwise/mapping_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string_view>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/transfer_length.hpp"

namespace tilesim::workloads::npu::elementwise {

using namespace arch::npu;
using arch::base::kBitsPerByte;

namespace {

std::int64_t needed_memory(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                           const CoreConfig& core) {
    const auto buffers = core_buffers(problem, map);
    return std::accumulate(buffers.begin(), buffers.end(), core.stack.count());
}

// Empty: a core has as many descriptors as it has buffers.
std::string lack_of_descriptors(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                                const DmaConfig& core_dma) {
    DescriptorIds ids(core_dma);
    ids.take(kCoreA, map.buffers);
    ids.take(kCoreB, problem.has_b() ? b_buffers(problem, map) : 0);
    ids.take(kCoreC, map.buffers);
    return ids.lack("a core tile");
}

// What would need less of a core's memory.
std::string less_memory(ElementwiseProblem problem, const ElementwiseMapping& map,
                        const CoreConfig& core) {
    if (map.rows_per_call > 1) {
        return "fewer rows_per_call or buffers";
    }
    const std::string_view fewer_buffers = map.buffers > kFewestBuffers ? "fewer buffers or " : "";
    if (map.elements_per_call > 0) {
        return fmt::format("{}fewer elements_per_call", fewer_buffers);
    }
    std::int64_t fits = 0;
    for (auto step =
             static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(problem.n)));
         step >= 1; step /= 2) {
        problem.n = fits + step;
        fits = needed_memory(problem, map, core) <= core.memory.count() ? problem.n : fits;
    }
    return problem.by_elements()
               ? fmt::format("{}elements_per_call of at most {}", fewer_buffers, fits)
               : fmt::format("{}rows of at most {} elements", fewer_buffers, fits);
}

}  // namespace

std::int64_t rows_of_whole_words(std::int64_t bytes) {
    return kWordBytes / std::gcd(bytes, kWordBytes);
}

std::int64_t elements_of_whole_words() {
    return kWordBytes * kBitsPerByte / bits_of(DataType::Int4);
}

std::vector<std::string> problems_of(const ElementwiseProblem& whole, const ElementwiseMapping& map,
                                     const NpuConfig& config) {
    const ElementwiseProblem problem = as_called(whole, map);
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
    problems.require(map.elements_per_call == 0 || problem.by_elements(),
                     "{} goes by rows, elements_per_call is for what goes by elements",
                     name_of(problem.operation));
    problems.require(map.elements_per_call == 0 || map.rows_per_call == 1,
                     "a call works on rows_per_call rows or on elements_per_call elements; of rows "
                     "there are {}",
                     map.rows_per_call);
    problems.require(problem.heads == 1 || map.rows_per_call == 1,
                     "rows that share their angles come one a call, not {}", map.rows_per_call);
    problems.require(map.cores <= config.core_rows, "the mapping uses {} cores of a column of {}",
                     map.cores, config.core_rows);
    const RowBytes row = row_bytes(problem);
    const std::int64_t operands = problem.has_b() ? 2 : 1;
    problems.require(config.core_dma.channels >= operands,
                     "{} operands come on a stream each, cores have {} channels", operands,
                     config.core_dma.channels);
    problems.require(config.shim_dma.channels >= operands * map.cores,
                     "a column's shim sends {} operands to each of {} cores on a channel each, it "
                     "has {}; use fewer cores of a column",
                     operands, map.cores, config.shim_dma.channels);
    const std::string_view fewer = map.elements_per_call > 0 ? "fewer elements_per_call"
                                   : map.rows_per_call > 1
                                       ? "fewer rows_per_call, or rows of fewer elements"
                                   : problem.by_elements() ? "elements_per_call"
                                                           : "rows of fewer elements";
    const std::int64_t most = longest_transfer(config.core_dma);
    // One row of B for all calls comes once, with the rest of its last word.
    const std::int64_t longest = words_for(
        std::max({map.rows_per_call * row.a, (problem.keeps_b() ? 1 : map.rows_per_call) * row.b,
                  map.rows_per_call * row.c}));
    problems.require(longest <= most, "a core's descriptor moves {} words, at most {}; use {}",
                     longest, most, fewer);
    for (const std::int64_t of_row : std::set{row.a, problem.keeps_b() ? row.a : row.b, row.c}) {
        const std::int64_t bytes = map.rows_per_call * of_row;
        problems.require(bytes % kWordBytes == 0,
                         "an operand of a call is {} B, no whole words of {} B; use a multiple of "
                         "{}",
                         bytes, kWordBytes,
                         map.elements_per_call > 0
                             ? fmt::format("{} elements_per_call", elements_of_whole_words())
                             : fmt::format("{} rows_per_call", rows_of_whole_words(of_row)));
    }
    const std::int64_t descriptors = map.cores * (operands + 1);
    problems.require(descriptors <= config.shim_dma.descriptors,
                     "a column's shim needs {} descriptors, it has {}; use fewer cores of a column",
                     descriptors, config.shim_dma.descriptors);
    const std::int64_t of_core = calls_of(problem, map, config) * map.rows_per_call *
                                 std::max({row.a, row.b, row.c}) / kWordBytes;
    problems.require(of_core <= longest_transfer(config.shim_dma),
                     "a shim's descriptor moves {} words to or from a core, at most {}; use more "
                     "columns or cores",
                     of_core, longest_transfer(config.shim_dma));
    const std::string lack = lack_of_descriptors(problem, map, config.core_dma);
    problems.require(lack.empty(), "{}; use fewer buffers", lack);
    const std::int64_t needed = needed_memory(problem, map, config.core);
    problems.require(needed <= config.core.memory.count(),
                     "a core needs {} B for {} buffers of {} rows of each operand and its "
                     "stack, it has {} B; use {}",
                     needed, map.buffers, map.rows_per_call, config.core.memory.count(),
                     less_memory(problem, map, config.core));
    return problems.take_problems();
}

}  // namespace tilesim::workloads::npu::elementwise
