// The tiles of a trace: their kind of unit and place, and where the loader has put a design.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/compare/trace_file.hpp"

namespace tilesim::sim::compare {

// "core_trace" of "core_trace for tile2,3", "fabric.port" of "fabric.port(2)"
std::string kind_of(const std::string& unit);

// A tile of the trace that an array of this size does not have: the trace is of another device.
// Nothing where all tiles are its own.
std::optional<std::string> foreign_tile(const TraceFile& trace, std::int64_t rows,
                                        std::int64_t columns);

// The smallest traced column less the design's: where the loader has put it.
std::int64_t column_shift(const TraceFile& measured, const TraceFile& simulated);
// The same trace with its tiles so many columns further west.
TraceFile shifted(const TraceFile& trace, std::int64_t columns);

}  // namespace tilesim::sim::compare
