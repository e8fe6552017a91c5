// Where the recording of a unit begins in the simulation, which knows the whole run.
//
// A trace unit records from a broadcast on: all its lanes miss the same time. So one cycle is
// looked for, of the whole unit, from which the simulated events of all its lanes have the gaps
// that were measured; the trace of a simulation's window says its own, which is taken unless
// another fits clearly better. What was on at that cycle is recorded, as if it began then.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/compare/trace_file.hpp"

namespace tilesim::sim::compare {

// An occurrence of an event that both sides have.
struct Pair {
    Interval measured, simulated;
    std::int64_t occurrence = 0;  // of the simulation, from 0
    bool begin_known = true;      // else it was on as the recording began
    // Nor was it on as the recording ended, where that says when it did.
    bool length_known() const { return begin_known && !measured.end_is_cut; }
};

struct PairedLane {
    std::vector<Pair> pairs;
    std::int64_t measured = 0, simulated = 0;  // occurrences there are while both record
};

// One unit of a tile, as far as both sides have its events.
struct PairedUnit {
    std::map<std::string, PairedLane> lanes;  // by event
    // The first common event whose begin is known, and when each side has it.
    std::string first_event;
    std::int64_t measured_start = 0, simulated_start = 0;
};

// By unit. Occurrences are paired in order.
std::map<std::string, PairedUnit> paired(const TraceFile& measured, const TraceFile& simulated);

}  // namespace tilesim::sim::compare
