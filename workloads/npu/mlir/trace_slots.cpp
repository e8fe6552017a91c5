#include "workloads/npu/mlir/trace_slots.hpp"

#include <algorithm>

namespace tilesim::workloads::npu::mlir {

using program_file::TraceSlots;

TraceSlots& trace_slots_of(Lowering& lowering, program::TileCoordinate tile, std::int64_t unit) {
    auto& all = lowering.trace_slots;
    const auto place = std::find_if(all.begin(), all.end(), [&](const TraceSlots& slots) {
        return slots.tile == tile && slots.unit == unit;
    });
    if (place != all.end()) {
        return *place;
    }
    TraceSlots slots;
    slots.tile = tile;
    slots.unit = unit;
    all.push_back(slots);
    return all.back();
}

namespace {

// Slot i of a word is its byte i.
std::int64_t byte_of(std::uint32_t value, std::size_t slot) {
    return value >> (8 * slot) & 0xFF;
}

}  // namespace

void watch_events(TraceSlots& slots, std::size_t first, std::uint32_t value) {
    for (std::size_t i = 0; i < kSlotsOfAWord; ++i) {
        slots.events[first + i] = byte_of(value, i);
    }
}

void watch_ports(TraceSlots& slots, std::size_t first, std::uint32_t value) {
    for (std::size_t i = 0; i < kSlotsOfAWord; ++i) {
        slots.ports[first + i] = byte_of(value, i) & 0x3F;
    }
}

}  // namespace tilesim::workloads::npu::mlir
