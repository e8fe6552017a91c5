// Which mappings of an elementwise operation are worth a try.
#pragma once

#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/elementwise/elementwise_mapping.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"

namespace tilesim::workloads::npu::elementwise {

// Those that fit; the widest first.
std::vector<ElementwiseMapping> mappings_of(const ElementwiseProblem& problem,
                                            const arch::npu::NpuConfig& config);

// The mapping with more or fewer buffers, those that fit.
std::vector<ElementwiseMapping> variants_of(const ElementwiseProblem& problem,
                                            const ElementwiseMapping& mapping,
                                            const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::elementwise
