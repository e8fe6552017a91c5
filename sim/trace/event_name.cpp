#include "sim/trace/event_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tilesim::sim::trace {

namespace {

struct Place {
    std::string row, column;
    std::string unit;  // "core", "mm2s0"
};

// Takes "npu.tile(3,2).mm2s0" apart; empty fields where it is no such name.
Place place_of(std::string_view component) {
    const std::size_t open = component.find("tile(");
    const std::size_t comma = component.find(',', open);
    const std::size_t close = component.find(").", open);
    if (open == component.npos || comma == component.npos || close == component.npos) {
        return {};
    }
    const std::size_t begin = open + 5;
    return {std::string{component.substr(comma + 1, close - comma - 1)},
            std::string{component.substr(begin, comma - begin)},
            std::string{component.substr(close + 2)}};
}

std::string upper(std::string_view text) {
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

std::string core_event(std::string_view state) {
    if (state == "done") {
        return "";
    }
    if (state == "waiting_for_cascade") {
        return "CASCADE_STALL";
    }
    if (state.starts_with("waiting_for_")) {
        return "LOCK_STALL";
    }
    if (state == "multiply") {
        return "INSTR_VECTOR";
    }
    return upper(state);
}

// Outside the tiles a channel's banks share its process: "memory.channel(0)", BANK_3_ROW_OPEN.
Lane shared_lane(std::string_view component, std::string_view state) {
    if (state == "done") {
        return {std::string{component}, ""};
    }
    const std::size_t part = component.find(").");
    if (part == component.npos) {
        return {std::string{component}, upper(state)};
    }
    const std::string process{component.substr(0, part + 1)};
    const std::string_view unit = component.substr(part + 2);
    if (unit.starts_with("bank(")) {
        return {process, fmt::format("BANK_{}_{}", unit.substr(5, unit.size() - 6), upper(state))};
    }
    return {process, unit == "reads"     ? "READS_" + upper(state)
                     : unit == "waiting" ? "READS_WAITING"
                                         : upper(state)};
}

// "s2mm0" and "waiting_for_lock" to DMA_S2MM_0_STALLED_LOCK.
std::string channel_event(std::string_view unit, std::string_view state) {
    const bool receives = unit.starts_with("s2mm");
    const std::string prefix =
        fmt::format("DMA_{}_{}_", receives ? "S2MM" : "MM2S", unit.substr(unit.size() - 1));
    if (state == "idle") {
        return "";
    }
    if (state == "waiting_for_lock") {
        return prefix + "STALLED_LOCK";
    }
    if (state == "waiting_for_stream") {
        return prefix + (receives ? "STREAM_STARVATION" : "STREAM_BACKPRESSURE");
    }
    if (state == "waiting_for_memory") {
        return prefix + (receives ? "MEMORY_BACKPRESSURE" : "MEMORY_STARVATION");
    }
    return prefix + (state == "streaming" ? "RUNNING" : upper(state));
}

}  // namespace

Lane lane_of(std::string_view component, std::string_view state) {
    const Place place = place_of(component);
    if (place.unit.empty()) {
        return shared_lane(component, state);
    }
    const bool core = place.unit == "core";
    // Rows 0 and 1 are the shim's and the memory tiles'; above them are cores.
    const char* unit = core               ? "core_trace"
                       : place.row == "0" ? "shim_trace"
                       : place.row == "1" ? "memtile_trace"
                                          : "mem_trace";
    return {fmt::format("{} for tile{},{}", unit, place.row, place.column),
            core ? core_event(state) : channel_event(place.unit, state)};
}

std::string_view colour_of(std::string_view state) {
    if (state == "multiply" || state == "streaming" || state == "fixed_kernel" || state == "read" ||
        state == "write" || state == "under_way") {
        return "good";
    }
    if (state == "waiting_for_lock" || state == "waiting_for_output" || state == "waiting") {
        return "bad";
    }
    if (state == "waiting_for_input" || state == "waiting_for_stream") {
        return "terrible";
    }
    return state == "waiting_for_memory" || state == "turnaround" || state == "refresh" ? "yellow"
                                                                                        : "grey";
}

}  // namespace tilesim::sim::trace
