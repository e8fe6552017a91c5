#include "workloads/npu/mlir/sequence/array_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "arch/npu/program/script_walk.hpp"
#include "workloads/npu/mlir/registers/sequence_operands.hpp"
#include "workloads/npu/mlir/sequence/control_packets.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/unknown_attributes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using registers::allocation;
using registers::field;
using registers::is_positional;

namespace {

bool counts_runs(const std::vector<program::CoreOp>& script, std::int64_t parameter) {
    return program::any_op(script, [parameter](const program::CoreOp& each) {
        const auto* loop = std::get_if<program::LoopOp>(&each.op);
        return loop != nullptr && loop->parameter == parameter;
    });
}

}  // namespace

void ArrayCommands::dma_wait(const Operation& operation, Scope&) {
    wait(allocation(lowering_, text_attribute(operation, "symbol"), operation.where));
}

void ArrayCommands::sync(const Operation& operation, Scope& scope) {
    std::map<std::string_view, std::int64_t> values;
    static constexpr std::string_view kOrder[] = {"column",  "row",        "direction",
                                                  "channel", "column_num", "row_num"};
    Cursor cursor(operation);
    if (cursor.peek() != nullptr && cursor.peek()->opens("(") &&
        operation.attribute("column") == std::nullopt && is_positional(*cursor.peek())) {
        Cursor inside(cursor.group("("));
        for (const std::string_view key : kOrder) {
            values[key] = inside.done() ? 1 : scope.integer(inside);
            inside.skip(",");
        }
    } else {
        for (const std::string_view key : kOrder) {
            const bool count = key.ends_with("_num");
            values[key] = field(operation, scope, key, count ? std::optional{1} : std::nullopt);
        }
    }
    const auto sane = [](std::int64_t first, std::int64_t number, std::int64_t most) {
        return first >= 0 && number >= 1 && first + number <= most;
    };
    if (!sane(values["column"], values["column_num"], lowering_.config.columns) ||
        !sane(values["row"], values["row_num"], lowering_.config.rows())) {
        throw ReadError(operation.where, "this sync waits for tiles outside the array");
    }
    for (std::int64_t column = 0; column < values["column_num"]; ++column) {
        for (std::int64_t row = 0; row < values["row_num"]; ++row) {
            wait({{values["column"] + column, values["row"] + row},
                  values["direction"] == 0 ? program::Direction::S2MM : program::Direction::MM2S,
                  values["channel"]});
        }
    }
}

void ArrayCommands::set_lock(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    program::SetLock set;
    set.lock = scope.index_of(inside, Value::Kind::Lock);
    inside.expect(",");
    const Location where = inside.where();
    set.value = scope.integer(inside);
    if (set.value < 0 || set.value > 63) {
        throw ReadError(where, fmt::format("a lock's value must be 0..63, got {}", set.value));
    }
    lowering_.program.sequence.push_back(set);
}

void ArrayCommands::rtp_write(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const Location where = inside.where();
    std::string name = text_attribute(operation, "buffer_sym_name");
    if (name.empty()) {
        name = inside.peek() != nullptr && inside.peek()->is(TokenKind::Symbol) ? inside.symbol()
                                                                                : inside.word();
    } else {
        inside.integer();
        inside.expect(",");
        inside.integer();
    }
    inside.expect(",");
    const std::int64_t index = scope.integer(inside);
    inside.expect(",");
    const std::int64_t value = scope.integer(inside);
    const auto& buffers = lowering_.program.buffers;
    const auto place =
        std::find_if(buffers.begin(), buffers.end(),
                     [&name](const program::Buffer& b) { return b.name == plain_name(name); });
    if (place == buffers.end()) {
        throw syntax::unknown_symbol(where, "buffer", name, syntax::names_of(buffers));
    }
    if (!lowering_.write_parameter(place - buffers.begin(), index, value)) {
        lowering_.note("run-time parameters that bound no loop are left out");
    }
}

void ArrayCommands::buffer_clear(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const program::TileCoordinate tile = lowering_.tile(inside);
    inside.expect(",");
    const std::int64_t offset = scope.integer(inside);
    inside.expect(",");
    const std::int64_t words = scope.integer(inside);
    const std::int64_t room = lowering_.config.core.memory.count();
    if (lowering_.config.kind_of(tile) != program::TileKind::Core || offset < 0 || words < 1 ||
        words > room / kWordBytes || offset > room - words * kWordBytes) {
        throw ReadError(operation.where,
                        fmt::format("{} words from byte {} lie outside a core's memory of {} B",
                                    words, offset, room));
    }
    for (std::int64_t i = 0; i < words; ++i) {
        registers_.memory_word(tile, offset + i * kWordBytes, 0);
    }
    lowering_.note("aiex.buffer_clear: zeros that are no run-time parameters are left out");
}

void ArrayCommands::scratchpad(const Operation& operation, Scope&) {
    const std::string name = text_attribute(operation, "buffer");
    const auto& buffers = lowering_.program.buffers;
    for (const auto& [word, number] : lowering_.parameters) {
        const program::Buffer& buffer = buffers[static_cast<std::size_t>(word.first)];
        const bool bounds =
            std::any_of(lowering_.loop_parameters.begin(), lowering_.loop_parameters.end(),
                        [number = number](const auto& each) { return each.bound == number; });
        if (buffer.name == plain_name(name) && (bounds || bounds_a_loop(buffer.tile, number))) {
            throw ReadError(operation.where,
                            fmt::format("buffer @{} bounds a loop of a core, and what the "
                                        "scratchpad adds to it only the host knows",
                                        name));
        }
    }
    lowering_.note(
        "what the command processor takes from the host's scratchpad is left out: values, "
        "offsets of transfers (taken as 0), the time of these operations");
}

void ArrayCommands::control_packet(const Operation& operation, Scope&) {
    const auto address = integer_attribute(operation, "address");
    const std::int64_t opcode = integer_attribute(operation, "opcode").value_or(0);
    const auto data = operation.attribute("data");
    if (!address || (opcode != 1 && !data)) {
        throw ReadError(operation.where, "a control packet needs an address and data");
    }
    static const std::set<std::string_view> kKnown{"address",   "data",   "opcode",
                                                   "stream_id", "length", "pkt_type"};
    note_unknown_attributes(lowering_, operation, kKnown);
    lowering_.note(kControlPacketsAct);
    if (opcode == 1) {
        return;
    }
    auto to = static_cast<std::uint64_t>(*address);
    Cursor list(*data, operation.where);
    while (!list.done() && !list.peek()->opens("<")) {
        list.take();
    }
    Cursor words(list.group("<"));
    while (!words.done()) {
        if (!words.peek()->is(TokenKind::Number)) {
            words.take();
            continue;
        }
        registers_.write(to, static_cast<std::uint32_t>(words.integer()), operation.where);
        to += kWordBytes;
    }
}

void ArrayCommands::wait(const program::ChannelId& channel) {
    lowering_.program.sequence.push_back(program::WaitToken{channel});
}

bool ArrayCommands::bounds_a_loop(program::TileCoordinate tile, std::int64_t parameter) const {
    const auto& cores = lowering_.program.cores;
    return std::any_of(cores.begin(), cores.end(), [&](const program::CoreProgram& core) {
        return core.tile == tile && counts_runs(core.script, parameter);
    });
}

}  // namespace tilesim::workloads::npu::mlir::sequence
