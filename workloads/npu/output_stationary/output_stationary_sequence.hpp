// The run-time sequence of an output-stationary GEMM: what the command processor does, output tile
// by output tile.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

// An S2MM channel of a memory tile that takes the C tiles of several rows of cores as packets, each
// by the descriptor its header names.
struct PacketChannel {
    arch::npu::program::ChannelId channel;
    std::int64_t first_descriptor = 0;
    std::int64_t packets = 0;  // in an output tile
};

// Appends the sequence to the program: starts every core with its counts, releases the `go` locks,
// then keeps the shims busy. External buffers 0, 1 and 2 are A, B and C.
void add_sequence(LoweredGemm& lowered, const GemmView& view, const arch::npu::NpuConfig& config,
                  const std::vector<std::int64_t>& go_locks,
                  const std::vector<PacketChannel>& packet_channels);

// Run-time parameters of a core.
inline constexpr std::int64_t kCallsParameter = 0;
inline constexpr std::int64_t kTilesParameter = 1;

}  // namespace tilesim::workloads::npu::output_stationary
