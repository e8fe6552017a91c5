#include "workloads/npu/mlir/design/trace_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/trace_slots.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::design {

namespace {

using program_file::kFirstDmaPortOfCore;
using program_file::kNoDma;
using program_file::kPutOut;
using program_file::TraceSlots;

std::optional<Item> value_of(const Operation& operation, std::string_view key) {
    for (std::size_t i = 0; i + 2 < operation.items.size(); ++i) {
        if (operation.items[i].is_word(key) && operation.items[i + 1].is("=")) {
            return operation.items[i + 2];
        }
    }
    return std::nullopt;
}

std::string text_of(const Operation& operation, std::string_view key) {
    const auto item = value_of(operation, key);
    return item ? item->token.text : "";
}

std::int64_t number_of(const Operation& operation, std::string_view key) {
    const auto item = value_of(operation, key);
    const auto number = item ? to_integer(item->token.text) : std::nullopt;
    if (!number) {
        throw ReadError(operation.where,
                        fmt::format("{} needs {} = a number", operation.name, key));
    }
    return *number;
}

// What packets call the unit that "core" or its like names; a core's where nothing is said.
std::int64_t unit_of(const std::string& type, program::TileKind kind) {
    if (type == "mem") {
        return kMemoryUnit;
    }
    return kind == program::TileKind::Shim     ? kShimUnit
           : kind == program::TileKind::Memory ? kMemoryTileUnit
                                               : kCoreUnit;
}

// <"LOCK_STALL">, <CoreEventAIE2::LOCK_STALL>
std::string event_of(const Operation& operation) {
    Cursor cursor(operation);
    std::string name;
    for (const Item& item : cursor.group("<").items) {
        name += item.token.text;
    }
    const std::size_t scope = name.rfind(':');
    return scope == std::string::npos ? name : name.substr(scope + 1);
}

class TraceUnits {
  public:
    explicit TraceUnits(Lowering& lowering) : lowering_(lowering) {}

    void declared(const Operation& trace) {
        std::string type;
        const auto& operations = region_of(trace).blocks.front().operations;
        for (const Operation& each : operations) {
            type = each.name == "aie.trace.packet" ? text_of(each, "type") : type;
        }
        TraceSlots& slots = slots_named_by(trace, type);
        std::size_t next = 0;
        for (const Operation& each : operations) {
            if (each.name == "aie.trace.event" && next < slots.names.size()) {
                slots.names[next++] = event_of(each);
            } else if (each.name == "aie.trace.port") {
                port(each, slots);
            }
        }
    }

    void configured(const Operation& config) {
        TraceSlots& slots = slots_named_by(config, text_of(config, "packet_type"));
        for (const Operation& each : region_of(config).blocks.front().operations) {
            const std::string name = text_of(each, "register");
            if (name.empty() || value_of(each, "field")) {
                continue;  // of fields the compiler makes registers
            }
            const auto value = static_cast<std::uint32_t>(number_of(each, "value"));
            const std::size_t first = name.ends_with('1') ? kSlotsOfAWord : 0;
            if (name.starts_with("Trace_Event")) {
                watch_events(slots, first, value);
            } else if (name.starts_with("Stream_Switch_Event_Port_Selection")) {
                watch_ports(slots, first, value);
            }
        }
    }

  private:
    TraceSlots& slots_named_by(const Operation& operation, const std::string& type) {
        Cursor cursor(operation);
        cursor.symbol();
        Cursor inside(cursor.group("("));
        const program::TileCoordinate tile = lowering_.tile(inside);
        return trace_slots_of(lowering_, tile, unit_of(type, lowering_.config.kind_of(tile)));
    }

    void port(const Operation& operation, TraceSlots& slots) const {
        Cursor cursor(operation);
        const std::int64_t slot = Cursor(cursor.group("<")).integer();
        if (slot < 0 || slot >= static_cast<std::int64_t>(slots.ports.size())) {
            throw ReadError(operation.where,
                            fmt::format("a trace unit watches ports 0..7, not {}", slot));
        }
        const bool memory = lowering_.config.kind_of(slots.tile) == program::TileKind::Memory;
        const std::int64_t first = memory ? 0 : kFirstDmaPortOfCore;
        const std::int64_t number =
            text_of(operation, "port") == "DMA" ? first + number_of(operation, "channel") : kNoDma;
        const bool received = text_of(operation, "direction") == "S2MM";
        slots.ports[static_cast<std::size_t>(slot)] = number | (received ? kPutOut : 0);
    }

    Lowering& lowering_;
};

}  // namespace

void read_trace_units(Lowering& lowering) {
    TraceUnits units(lowering);
    for (const Operation& operation : lowering.body()) {
        lowering.attempt([&] {
            if (operation.name == "aie.trace") {
                units.declared(operation);
            } else if (operation.name == "aie.trace.config") {
                units.configured(operation);
            }
        });
    }
}

void find_traced_channels(Lowering& lowering) {
    if (!lowering.traces) {
        return;
    }
    program::Program& program = lowering.program;
    const auto routed = [&program](const program::ChannelId& to) {
        return std::any_of(program.routes.begin(), program.routes.end(), [&to](const auto& route) {
            return std::find(route.destinations.begin(), route.destinations.end(), to) !=
                   route.destinations.end();
        });
    };
    for (const program::SequenceOp& operation : program.sequence) {
        const auto* push = std::get_if<program::PushTask>(&operation);
        if (push == nullptr || push->channel.direction != program::Direction::S2MM ||
            lowering.config.kind_of(push->channel.tile) != program::TileKind::Shim ||
            routed(push->channel) ||
            std::find(program.traced.begin(), program.traced.end(), push->channel) !=
                program.traced.end()) {
            continue;
        }
        program.traced.push_back(push->channel);
        lowering.note(fmt::format("{} of tile {},{} takes what trace units send: nothing arrives",
                                  program::name_of(push->channel), push->channel.tile.column,
                                  push->channel.tile.row));
    }
}

}  // namespace tilesim::workloads::npu::mlir::design
