// What an output-stationary mapping is expected to take, for the order of candidates, and what no
// run of it beats.
//
// Models:  rounds of the whole array: calls with their locks and bank conflicts; reads of the
//          lengths that DRAM and fabric see, page walks, the busiest column's port; C's way out;
//          tasks given by the command processor and how far they may be ahead.
// Ignores: refresh, and what columns do to each other in time.
#pragma once

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

// Tiles of C of a core.
std::int64_t tiles_of(const SearchContext& context, const OutputStationaryMapping& mapping);

// What the command processor does: it starts the transfers of a reach together.
struct Reaches {
    double count = 0;
    double commands_ns = 0;  // of one: a descriptor and a task a transfer, a token where C leaves
    double in_flight = 0;
};
// `tiles`: of C, of a core.
Reaches reaches_of(const SearchContext& context, const OutputStationaryMapping& mapping,
                   double tiles);

}  // namespace tilesim::workloads::npu::output_stationary
