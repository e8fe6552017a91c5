// Which output-stationary mappings there are: every core tile in steps that covers the product or
// makes aligned runs, every block along K and both bufferings of C that fit on all columns and rows
// of cores; fewer tiles on those parts of them that could be as fast.
#pragma once

#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/bounds.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/memory_path.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct SearchContext {
    const GemmProblem& problem;
    const arch::npu::NpuConfig& config;
    MemoryPath path;
};

struct TileCandidate {
    OutputStationaryMapping mapping;
    GemmBounds bounds;
    double expected_ns = 0;
    double least_ns = 0;
};

// Tiles beyond what the problem has for a core only add padding: they are left out.
std::vector<TileCandidate> candidates_of(const SearchContext& context);

// The mapping with one of its other keys changed: buffers, transfers ahead, tiles between the
// steps, half the columns or rows (with tiles of twice the size, too); those that fit and differ in
// what they do.
std::vector<TileCandidate> variants_of(const SearchContext& context,
                                       const OutputStationaryMapping& mapping);

// What a run may take, from what each resource needs for a round: the work of the cores with the
// waits that nothing hides, streams, and reads of the lengths that DRAM and fabric see.
double expected_ns(const SearchContext& context, const OutputStationaryMapping& mapping,
                   const GemmBounds& bounds);

// What an output tile of all cores takes at least once buffers are full, on average: its C's way
// out of the array, or DRAM at its peak for what it reads and writes.
double least_period_ns(const SearchContext& context, const OutputStationaryMapping& mapping);

// What no run beats: a launch, then the longest of the streams, DRAM at its peak, the command
// processor's writes, and what a core does one after the other: calls with their locks, clearing C,
// and a single C tile's way out.
double least_ns(const SearchContext& context, const OutputStationaryMapping& mapping,
                const GemmBounds& bounds);

}  // namespace tilesim::workloads::npu::output_stationary
