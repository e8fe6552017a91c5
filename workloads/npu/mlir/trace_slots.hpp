// What a design's register words say that trace units watch.
#pragma once

#include <cstdint>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir {

// As packets name the units.
constexpr std::int64_t kCoreUnit = 0, kMemoryUnit = 1, kShimUnit = 2, kMemoryTileUnit = 3;
// Events and ports of a register; the second has slots 4 to 7.
constexpr std::size_t kSlotsOfAWord = 4;

// Those of a unit, new where the design has not named it before.
program_file::TraceSlots& trace_slots_of(Lowering& lowering, program::TileCoordinate tile,
                                         std::int64_t unit);
void watch_events(program_file::TraceSlots& slots, std::size_t first, std::uint32_t value);
void watch_ports(program_file::TraceSlots& slots, std::size_t first, std::uint32_t value);

}  // namespace tilesim::workloads::npu::mlir
