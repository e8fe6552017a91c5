// The run-time sequence of a weight-stationary GEMM: what the command processor does, pass by pass.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/weight_stationary/weight_stationary.hpp"

namespace tilesim::workloads::npu::weight_stationary {

// Appends the sequence to the program: gives every core its counts, releases the `go` locks, then
// keeps the shims busy. External buffers 0, 1 and 2 are A, B and C.
void add_sequence(LoweredGemm& lowered, const GemmProblem& problem,
                  const WeightStationaryMapping& mapping, const arch::npu::NpuConfig& config,
                  const std::vector<std::int64_t>& go_locks);

// Tasks of a shim's channel that are under way at once: one runs, the others queue.
std::int64_t tasks_under_way(const arch::npu::NpuConfig& config);

// Run-time parameters of a core, written in this order.
inline constexpr std::int64_t kPassesParameter = 0;
inline constexpr std::int64_t kTilesParameter = 1;

}  // namespace tilesim::workloads::npu::weight_stationary
