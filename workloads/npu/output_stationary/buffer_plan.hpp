// Where the buffers of the output-stationary dataflow lie in core and memory tile memories.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/object_fifo.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Core memory, the same in every core, as core_placement.hpp has it.
struct CorePlan {
    std::vector<std::int64_t> a, b, c, sum;  // addresses
    std::int64_t used = 0;                   // bytes, stack included
};
// Nothing when the buffers do not fit.
std::optional<CorePlan> plan_core(const BufferSizes& sizes, const OutputStationaryMapping& mapping,
                                  const arch::npu::NpuConfig& config);

// Buffers of a column's memory tiles lie in the tile their streams end in; blocks of A and B that
// do not fit there lie in its east or west neighbour, where their channels can reach it.
struct MemoryTilePlan {
    std::vector<BufferPlace> a, b, c;  // of A, blocks of all rows of cores the column holds
    std::int64_t used = 0;             // bytes of its fullest tile, by whatever column
};
// One entry a column; nothing when the buffers do not fit.
std::optional<std::vector<MemoryTilePlan>> plan_memory_tiles(const BufferSizes& sizes,
                                                             const ArrayShape& shape,
                                                             const OutputStationaryMapping& mapping,
                                                             const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
