// What the cores of an output-stationary GEMM do: their buffers, the descriptors that bring A and B
// as sub-tiles and take C away, and the script that zeroes, multiplies and hands C on.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/memory_tile_lowering.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Adds all cores, column by column; returns the locks they wait for before they begin. `mode` is
// the kernel's mmul.
std::vector<std::int64_t> add_cores(LoweredGemm& lowered, const GemmView& view,
                                    const arch::npu::MultiplyMode& mode,
                                    const arch::npu::NpuConfig& config, const CorePlan& plan,
                                    const CPackets& packets);

}  // namespace tilesim::workloads::npu::output_stationary
