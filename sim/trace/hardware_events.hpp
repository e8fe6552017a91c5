// The events of the trace units of AIE-ML and AIE2P by their numbers, as a tile's Trace_Event
// registers name them.
//
// Source: AMD AM025 and AM029, the event numbers of Xilinx/aie-rt.
#pragma once

#include <cstdint>
#include <string_view>

namespace tilesim::sim::trace {

// In the order in which packets name them.
enum class TraceUnit { Core, Memory, Shim, MemoryTile };

// "LOCK_STALL"; empty for numbers no event has.
std::string_view event_name(TraceUnit unit, std::int64_t number);
// "core_trace" of "core_trace for tile2,0".
std::string_view process_prefix(TraceUnit unit);

}  // namespace tilesim::sim::trace
