// What an array lacks for a shape: channels, wires, descriptors, bits of their fields.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Sentences that name what limits it; none where the array has all.
std::vector<std::string> shape_problems(const ArrayShape& shape, const GemmView& view,
                                        const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
