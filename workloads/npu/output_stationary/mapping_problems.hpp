// Why an output-stationary mapping cannot run on an array.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Sentences that name what limits it; none when it can run.
std::vector<std::string> problems_of(const GemmProblem& problem,
                                     const OutputStationaryMapping& mapping,
                                     const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
