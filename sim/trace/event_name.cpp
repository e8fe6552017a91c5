#include "sim/trace/event_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "sim/trace/hardware_events.hpp"

namespace tilesim::sim::trace {

namespace {

struct Place {
    std::string agent;  // "npu0 " where several share the memory
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
    const std::size_t array = component.find("npu.tile(");
    const bool of_agent = array != component.npos && array > 0;
    return {of_agent ? std::string{component.substr(0, array - 1)} + " " : "",
            std::string{component.substr(comma + 1, close - comma - 1)},
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
    if (state == "waiting_for_stream") {
        return "STREAM_STALL";
    }
    if (state == "multiply") {
        return "INSTR_VECTOR";
    }
    return upper(state);
}

std::int64_t row_of(const std::string& text) {
    std::int64_t row = 0;
    std::from_chars(text.data(), text.data() + text.size(), row);
    return row;
}

// What a core tells besides its state: "core.requests", "acquire".
std::string told_by_core(std::string_view unit, std::string_view event) {
    if (unit == "core.requests") {
        return fmt::format("INSTR_LOCK_{}_REQ", upper(event));
    }
    if (unit == "core.stall") {
        return "LOCK_STALL";
    }
    if (unit == "core.stream") {
        return "STREAM_STALL";
    }
    return "INSTR_" + upper(event);  // core.kernel: event_0, event_1
}

// "lock3.given": LOCK_3_REL of the tile's memory module, whose first selectors watch the first
// locks.
std::string lock_event(std::string_view unit) {
    const std::string_view number = unit.substr(4, unit.find('.') - 4);
    return unit.ends_with(".given") ? fmt::format("LOCK_{}_REL", number)
                                    : fmt::format("LOCK_SEL{}_ACQ_GE", number);
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

Lane lane_of(std::string_view component, std::string_view state, std::int64_t memory_rows) {
    const Place place = place_of(component);
    if (place.unit.empty()) {
        return shared_lane(component, state);
    }
    const std::int64_t row = row_of(place.row);
    const bool shim = row == 0;
    const bool memory_tile = !shim && row <= memory_rows;
    const bool of_core = place.unit.starts_with("core");
    const bool port = place.unit.ends_with(".port");
    const TraceUnit unit = shim              ? TraceUnit::Shim
                           : memory_tile     ? TraceUnit::MemoryTile
                           : of_core || port ? TraceUnit::Core
                                             : TraceUnit::Memory;
    std::string event;
    if (place.unit == "core") {
        event = core_event(state);
    } else if (of_core) {
        event = told_by_core(place.unit, state);
    } else if (place.unit.starts_with("lock")) {
        event = lock_event(place.unit);
    } else if (port) {
        event = port_event(place.unit.starts_with("s2mm"), place.unit[4] - '0', memory_tile);
    } else {
        const std::string channel = place.unit.substr(0, place.unit.find('.'));
        event = channel_event(channel, state);
    }
    return {fmt::format("{}{} for tile{},{}", place.agent, process_prefix(unit), place.row,
                        place.column),
            std::move(event)};
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

std::string port_event(bool receives, std::int64_t channel, bool memory_tile) {
    constexpr std::int64_t kOfADirection = 4;
    if (channel >= kOfADirection) {
        return "";
    }
    return fmt::format("PORT_RUNNING_{}", memory_tile ? channel + (receives ? 0 : kOfADirection)
                                                      : 2 * channel + (receives ? 0 : 1));
}

}  // namespace tilesim::sim::trace
