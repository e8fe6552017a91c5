// The analytical bounds of a weight-stationary GEMM, and the mappings worth simulating.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/bounds.hpp"
#include "workloads/npu/memory_path.hpp"
#include "workloads/npu/weight_stationary/weight_stationary.hpp"

namespace tilesim::workloads::npu::weight_stationary {

// No run is faster:
// compute: a core's tiles of B come, one after the last use of the other, and in between are its
//          kernels and the cascade words it gets and puts, one a cycle;
// stream:  what the channel moves that has most to do, a word a cycle: A of a column's slices, B
//          of its cores, C, or the parts of C that go to an adding core;
// memory:  A once a pass, B once, C once, over memory and fabric at their full rates.
GemmBounds bounds_of(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

// What it is expected to take: for the order of mappings, excludes none.
//
// Models:  tasks and tokens, a step after the other; locks of the cores; the runs in which A, B and
//          C lie, on the fabric and in DRAM; the first tiles' way in, through the cascade and out.
// Ignores: bank conflicts, steps that wait for a slot, page walks.
double expected_ns(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                   const arch::npu::NpuConfig& config, const MemoryPath& path);

struct TileCandidate {
    WeightStationaryMapping mapping;
    GemmBounds bounds;
    double expected_ns = 0;
};

// Mappings of every size, whether they fit or not, their slices of K as short as they may be. Tiles
// and parts of the array that `stated` has are left at that.
std::vector<WeightStationaryMapping> mappings_of(const GemmProblem& problem,
                                                 const WeightStationaryMapping& stated,
                                                 const arch::npu::NpuConfig& config);
// Of these those that fit.
std::vector<TileCandidate> candidates_of(const GemmProblem& problem,
                                         const std::vector<WeightStationaryMapping>& mappings,
                                         const arch::npu::NpuConfig& config,
                                         const MemoryPath& path);

// One key changed, as far as that fits: buffers, and tiles between those of the search.
std::vector<TileCandidate> variants_of(const GemmProblem& problem,
                                       const WeightStationaryMapping& mapping,
                                       const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::weight_stationary
