// Why a matrix-vector mapping cannot run on an array.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/matrix_vector.hpp"

namespace tilesim::workloads::npu::gemv {

// Sentences that name what limits it; none when it can run.
std::vector<std::string> problems_of(const MatrixVector& problem, const GemvMapping& mapping,
                                     const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::gemv
