// A trace of hardware or of a simulation: Chrome trace-event JSON as mlir-aie's parser writes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilesim::sim::compare {

struct Interval {
    std::int64_t begin = 0, end = 0;                // cycles
    bool begin_is_cut = false, end_is_cut = false;  // by the window of the trace
    bool after_restart = false;  // the first since its unit was started again: what it missed is
                                 // not known
};

// An event of a unit of a tile: "core_trace for tile2,3", "LOCK_STALL".
using Lane = std::pair<std::string, std::string>;

struct TraceFile {
    std::map<Lane, std::vector<Interval>> lanes;  // in the order of time
    std::string device;                           // it says it is of; empty: it does not say
    // What makes it less than the whole truth: unpaired events, wraps, a cut file.
    std::vector<std::string> flaws;
    std::vector<std::string> notes;  // what every recording may have
    std::int64_t lost_packets = 0;
    std::optional<std::int64_t> window_begin;  // of a simulation's trace: the cycle of the run
};

// The event of cores that run their kernel.
inline constexpr const char* kKernel = "INSTR_VECTOR";
inline constexpr const char* kKernelBegin = "INSTR_EVENT_0";
inline constexpr const char* kKernelEnd = "INSTR_EVENT_1";

// Programs often mark a kernel with events 0 and 1: what lies between is the kernel's lane.
void add_kernels_between_markers(TraceFile& trace);

// Events whose end is not in the recording are no part of it.
void note_still_on(TraceFile& trace, std::int64_t events);

// Throws ConfigError when the text is no trace at all. A file that was cut off is read as far as it
// goes, and says so.
TraceFile parse_trace(const std::string& text, const std::string& file);

}  // namespace tilesim::sim::compare
