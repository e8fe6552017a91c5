// Which output-stationary mappings are worth simulating: every legal one is enumerated, and what
// another one beats in every respect is dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/memory/device/memory_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/output_stationary.hpp"

namespace tilesim::sim::explore {

struct Candidate {
    workloads::OutputStationaryMapping mapping;
    workloads::GemmBounds bounds;
    std::int64_t run_bytes = 0;  // shortest contiguous run along K that DRAM sees
};

struct CandidateSet {
    std::int64_t legal = 0;             // mappings that fit
    std::vector<Candidate> candidates;  // of them, those no other one dominates
};

// One mapping dominates another when no bound, no DRAM traffic and no run length of its is worse.
CandidateSet candidates_of(const workloads::GemmProblem& problem,
                           const arch::npu::NpuConfig& config,
                           const arch::memory::device::MemoryConfig& memory);

}  // namespace tilesim::sim::explore
