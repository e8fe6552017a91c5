// Which output-stationary mappings are worth simulating: every legal one is enumerated, and what
// another one beats in every respect is dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/memory/device/memory_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct TileCandidate {
    OutputStationaryMapping mapping;
    GemmBounds bounds;
    std::int64_t run_bytes = 0;  // shortest contiguous run along K that DRAM sees
};

struct CandidateSet {
    std::int64_t legal = 0;             // mappings that fit
    std::vector<TileCandidate> candidates;  // of them, those no other one dominates
};

// One mapping dominates another when no bound, no DRAM traffic and no run length of its is worse.
CandidateSet candidates_of(const GemmProblem& problem,
                           const arch::npu::NpuConfig& config,
                           const arch::memory::device::MemoryConfig& memory);

}  // namespace tilesim::workloads::npu::output_stationary
