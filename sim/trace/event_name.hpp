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

// Colour of an event in trace viewers that know Chrome's names.
std::string_view colour_of(std::string_view state);

}  // namespace tilesim::sim::trace
