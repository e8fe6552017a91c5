// A measured trace against a simulated one: which events last how long, how often they come, where
// they part.
//
// Tiles have clocks of their own: each unit is aligned by itself (alignment.hpp). Only as many
// occurrences as both sides have are compared; what was on as the recording began has no length,
// and neither has what the window of a simulation's trace cuts.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/compare/trace_file.hpp"

namespace tilesim::sim::compare {

// One event of one kind of unit, over all tiles that both sides have.
struct EventRow {
    std::string unit;   // "core_trace"
    std::string event;  // "LOCK_STALL"
    std::int64_t tiles = 0;
    std::int64_t compared = 0;                         // occurrences
    std::int64_t measured = 0, simulated = 0;          // occurrences there are
    double measured_mean = 0, simulated_mean = 0;      // cycles an occurrence
    double measured_period = 0, simulated_period = 0;  // cycles from one to the next
    // By how much the measured ones are longer in all, cycles a tile.
    double excess = 0;
    // Of the gaps from one begin to the next, in percent of the measured gap.
    double median_gap_error = 0, worst_gap_error = 0;
    std::vector<double> gap_errors;  // each, tile by tile
};

struct Divergence {
    std::string unit, event;
    std::int64_t occurrence = 0;               // from 1
    std::int64_t measured = 0, simulated = 0;  // cycles since the first common event
    std::string since;                         // that event
    std::int64_t recorded_at = 0;              // the cycle of the measurement
};

// The same comparison with a simulation of the cores' compiled code as the trace shows it.
struct AsCompiled {
    std::vector<std::string> settings;  // what was set for it, as for --set
    double median_gap_error = 0;        // percent
};

struct TraceComparison {
    std::vector<EventRow> rows;  // largest excess first, by size
    std::int64_t units_measured = 0, units_common = 0;
    std::vector<std::string> only_measured;  // events with no counterpart
    std::vector<std::string> flaws;
    std::vector<std::string> notes;
    std::vector<Divergence> first;    // the earliest; empty where none
    double period_error_percent = 0;  // of the rate at which kernels run
    std::int64_t lanes_measured = 0, lanes_common = 0;
    std::int64_t events_measured = 0, events_paired = 0;
    double median_gap_error = 0;    // over all gaps between paired events, percent
    std::int64_t column_shift = 0;  // the loader put the design so many columns further east
    std::int64_t lost_packets = 0;
    std::string cause;
    std::optional<AsCompiled> as_compiled;
    // Everything lasts this much longer in the measurement: its ticks are of another length.
    std::optional<double> uniform_factor;
};

// Throws ConfigError with the reason when the two are not comparable.
TraceComparison compare_traces(const TraceFile& measured, const TraceFile& simulated);

// Begin and end of what both sides have, counted from each unit's first common event:
// {unit: {event: {"measured": [[begin, end]], "simulated": [...]}}}. At most `most` an event.
nlohmann::ordered_json timelines(const TraceFile& measured, const TraceFile& simulated,
                                 std::size_t most);

}  // namespace tilesim::sim::compare
