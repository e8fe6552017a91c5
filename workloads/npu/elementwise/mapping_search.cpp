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

}  // namespace

std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const NpuConfig& config) {
    std::vector<ElementwiseMapping> mappings;
    const auto add = [&](const ElementwiseMapping& map) {
        if (problems_of(problem, map, config).empty()) {
            mappings.push_back(map);
        }
    };
    for (std::int64_t columns = ShimColumns::count(config); columns >= 1; --columns) {
        for (std::int64_t cores = 1; cores <= config.shim_dma.channels; ++cores) {
            ElementwiseMapping map;
            map.columns = columns;
            map.cores = cores;
            const auto of_a_core = [&](std::int64_t all) { return ceil_div(all, columns * cores); };
            const std::int64_t rows = of_a_core(problem.m);
            for (map.rows_per_call = kMostRows; map.rows_per_call >= 1; map.rows_per_call /= 2) {
                if (map.rows_per_call <= rows) {  // of one there is never none
                    add(map);
                }
            }
            map.rows_per_call = 1;
            if (!problem.by_elements()) {
                continue;
            }
            const std::int64_t elements = of_a_core(problem.m * problem.n);
            for (std::int64_t of_call = kMostElements; of_call >= kFewestElements; of_call /= 2) {
                if (of_call <= std::max(elements, kFewestElements)) {
                    map.elements_per_call = of_call;
                    add(map);
                }
            }
        }
    }
    return mappings;
}

}  // namespace tilesim::workloads::npu::elementwise
