// The names of the trace unit's events for our components and states, so that a simulated and a
// measured trace open side by side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilesim::sim::trace {

struct Lane {
    std::string process;  // "core_trace for tile2,3": row, then column, as mlir-aie writes it
    std::string event;    // "LOCK_STALL"; empty where the state is no event
};

// `component`: "npu.tile(3,2).core" (column, row); `state`: as in the statistics. `memory_rows`: of
// memory tiles, above the shim's; cores lie above them.
Lane lane_of(std::string_view component, std::string_view state, std::int64_t memory_rows);

// The port of a channel among those the trace unit watches where nobody has chosen: of a core's
// switch the first channel in, the first out, the second in, the second out; of a memory tile's
// the first four in, the first four out. The eight ports are taken then: nothing for the others.
std::string port_event(bool receives, std::int64_t channel, bool memory_tile);

// Colour of an event in trace viewers that know Chrome's names.
std::string_view colour_of(std::string_view state);

}  // namespace tilesim::sim::trace
