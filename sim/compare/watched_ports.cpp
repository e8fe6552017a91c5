#include "sim/compare/watched_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/trace/event_name.hpp"
#include "sim/trace/hardware_events.hpp"

namespace tilesim::sim::compare {

using trace::TraceUnit;
using workloads::npu::program_file::kFirstDmaPortOfCore;
using workloads::npu::program_file::kPutOut;
using workloads::npu::program_file::TraceSlots;

namespace {

std::string lane_of_slot(std::size_t slot) {
    return fmt::format("PORT_RUNNING_{}", slot);
}

// The lane that the channel behind a port has in a simulation's trace; empty where it is no
// channel's, or of one without a lane.
std::string lane_of_port(std::int64_t port, bool memory_tile) {
    const std::int64_t channel = (port & ~kPutOut) - (memory_tile ? 0 : kFirstDmaPortOfCore);
    constexpr std::int64_t kChannelsOfCore = 2;
    if (channel < 0 || (!memory_tile && channel >= kChannelsOfCore)) {
        return "";
    }
    return trace::port_event((port & kPutOut) != 0, channel, memory_tile);
}

}  // namespace

void name_watched_ports(TraceFile& simulated, std::span<const TraceSlots> all) {
    for (const TraceSlots& slots : all) {
        const auto unit = static_cast<TraceUnit>(slots.unit);
        if (unit != TraceUnit::Core && unit != TraceUnit::MemoryTile) {
            continue;  // a shim's channels lie behind a multiplexer
        }
        const std::string process = fmt::format("{} for tile{},{}", trace::process_prefix(unit),
                                                slots.tile.row, slots.tile.column);
        std::map<std::string, std::vector<Interval>> watched;
        for (std::size_t slot = 0; slot < slots.ports.size(); ++slot) {
            const std::string name = lane_of_slot(slot);
            const std::string from =
                slots.ports[slot] ? lane_of_port(*slots.ports[slot], unit == TraceUnit::MemoryTile)
                                  : name;
            const auto lane = simulated.lanes.find({process, from});
            if (lane != simulated.lanes.end()) {
                watched[name] = lane->second;
            }
        }
        for (std::size_t slot = 0; slot < slots.ports.size(); ++slot) {
            simulated.lanes.erase({process, lane_of_slot(slot)});
        }
        for (auto& [name, intervals] : watched) {
            simulated.lanes[{process, name}] = std::move(intervals);
        }
    }
}

}  // namespace tilesim::sim::compare
