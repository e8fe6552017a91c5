#include "workloads/npu/elementwise/mapping_search.hpp"

#include "arch/base/units.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"

namespace tilesim::workloads::npu::elementwise {

using arch::base::ceil_div;
using arch::npu::NpuConfig;

std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const NpuConfig& config) {
    std::vector<ElementwiseMapping> mappings;
    for (std::int64_t columns = ShimColumns::count(config); columns >= 1; columns /= 2) {
        ElementwiseMapping map;
        map.columns = columns;
        for (map.rows_per_call = 4096; map.rows_per_call >= 1; map.rows_per_call /= 2) {
            const bool wasted = map.rows_per_call > ceil_div(problem.m, columns);
            if ((!wasted || map.rows_per_call == 1) && problems_of(problem, map, config).empty()) {
                mappings.push_back(map);
            }
        }
    }
    return mappings;
}

}  // namespace tilesim::workloads::npu::elementwise
