// The run-time sequence of an output-stationary GEMM: what the command processor does, output tile
// by output tile.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/memory_tile_lowering.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Appends the sequence to the program: starts every core with its counts, releases the `go` locks,
// then keeps the shims busy. External buffers 0, 1 and 2 are A, B and C.
void add_sequence(LoweredGemm& lowered, const GemmView& view, const arch::npu::NpuConfig& config,
                  const std::vector<std::int64_t>& go_locks,
                  const std::vector<PacketChannel>& packet_channels);

// Run-time parameters of a core, written in this order.
inline constexpr std::int64_t kCallsParameter = 0;
inline constexpr std::int64_t kTilesParameter = 1;

}  // namespace tilesim::workloads::npu::output_stationary
