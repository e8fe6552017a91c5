// Where the buffers of the output-stationary dataflow lie in core and memory tile memories.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Bytes of one buffer of each kind.
struct BufferSizes {
    std::int64_t a_core = 0, b_core = 0, c_core = 0;
    std::int64_t a_block = 0, b_block = 0, c_join = 0;  // in a memory tile
};
BufferSizes buffer_sizes(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                         const arch::npu::NpuConfig& config);

// Core memory, the same in every core. A's two buffers lie in different banks, B's and C's too,
// where the tile is small enough; otherwise the buffers follow each other without gaps.
struct CorePlan {
    std::vector<std::int64_t> a, b, c;  // addresses
    std::int64_t used = 0;              // bytes, stack included
};
// Nothing when the buffers do not fit.
std::optional<CorePlan> plan_core(const BufferSizes& sizes, const OutputStationaryMapping& mapping,
                                  const arch::npu::NpuConfig& config);

// A memory tile's buffers lie in its own memory; blocks of A and B that do not fit there lie in a
// neighbour's, which their channels, 0 and 1, can reach.
struct MemoryTilePlan {
    struct Place {
        std::int64_t column = 0;
        std::int64_t address = 0;
    };
    std::vector<Place> a, b, c;
    std::int64_t used = 0;  // bytes of its own memory, by whatever column
};
// One entry a column; nothing when the buffers do not fit.
std::optional<std::vector<MemoryTilePlan>> plan_memory_tiles(const BufferSizes& sizes,
                                                             const OutputStationaryMapping& mapping,
                                                             const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
