#include "workloads/npu/elementwise/mapping_search.hpp"

#include <algorithm>

#include "arch/base/units.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"

namespace tilesim::workloads::npu::elementwise {

using arch::base::ceil_div;
using arch::npu::NpuConfig;

namespace {

constexpr std::int64_t kMostRows = 4096;  // of a call
constexpr std::int64_t kMostElements = 16384;
constexpr std::int64_t kFewestElements = 256;

// Those with so many buffers that can be.
void add_mappings(const ElementwiseProblem& problem, const NpuConfig& config,
                  ElementwiseMapping map, std::vector<ElementwiseMapping>& mappings) {
    const auto add = [&] {
        if (problems_of(problem, map, config).empty()) {
            mappings.push_back(map);
        }
    };
    const RowBytes row = row_bytes(problem);
    const std::int64_t fewest_rows = std::max(
        {rows_of_whole_words(row.a), rows_of_whole_words(row.b), rows_of_whole_words(row.c)});
    for (map.columns = ShimColumns::count(config); map.columns >= 1; --map.columns) {
        for (map.cores = 1; map.cores <= config.shim_dma.channels; ++map.cores) {
            const auto of_a_core = [&](std::int64_t all) {
                return ceil_div(all, map.columns * map.cores);
            };
            const std::int64_t rows = of_a_core(problem.m);
            for (map.rows_per_call = kMostRows; map.rows_per_call >= 1; map.rows_per_call /= 2) {
                if (map.rows_per_call <= std::max(rows, fewest_rows)) {
                    add();
                }
            }
            map.rows_per_call = 1;
            if (!problem.by_elements()) {
                continue;
            }
            const std::int64_t elements = of_a_core(problem.m * problem.n);
            for (map.elements_per_call = kMostElements; map.elements_per_call >= kFewestElements;
                 map.elements_per_call /= 2) {
                const bool whole_row = map.elements_per_call == problem.n;  // as above
                if (!whole_row && map.elements_per_call <= std::max(elements, kFewestElements)) {
                    add();
                }
            }
            map.elements_per_call = 0;
        }
    }
}

}  // namespace

std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const NpuConfig& config) {
    std::vector<ElementwiseMapping> mappings;
    ElementwiseMapping map;
    // With one of each, moving waits for working: only where there is no room for more.
    for (; map.buffers >= kFewestBuffers && mappings.empty(); --map.buffers) {
        add_mappings(problem, config, map, mappings);
    }
    return mappings;
}

}  // namespace tilesim::workloads::npu::elementwise
