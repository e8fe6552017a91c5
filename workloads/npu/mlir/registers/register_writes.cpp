#include "workloads/npu/mlir/registers/register_writes.hpp"

#include <fmt/format.h>

#include "arch/npu/control/channel_words.hpp"
#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/control/register_map.hpp"
#include "workloads/npu/mlir/registers/sequence_operands.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::registers {

namespace registers = arch::npu::control;

namespace {

// The array's address: absolute, or an offset in a tile that is named beside it.
std::uint64_t address_of(const Operation& operation, const Scope& scope) {
    const auto address = static_cast<std::uint64_t>(field(operation, scope, "address"));
    const auto column = integer_attribute(operation, "column");
    const auto row = integer_attribute(operation, "row");
    const std::int64_t offset = registers::split(address).offset;
    if (!column || !row || address != static_cast<std::uint64_t>(offset)) {
        return address;
    }
    return registers::join({*column, *row}, offset);
}

constexpr std::size_t kMostArguments = 31;

// The fields of a descriptor as the operation states them: sizes and strides as registers hold
// them, strides and iterations minus one.
registers::RegisterDescriptor stated_descriptor(const Operation& operation, const Scope& scope) {
    const auto get = [&](std::string_view key) { return field(operation, scope, key, 0); };
    registers::RegisterDescriptor stated;
    stated.address = get("buffer_offset");
    program::BufferDescriptor& d = stated.descriptor;
    d.length = get("buffer_length");
    d.dimensions = {{get("d0_size"), get("d0_stride") + 1},
                    {get("d1_size"), get("d1_stride") + 1},
                    {get("d2_size"), get("d2_stride") + 1}};
    d.padding = {{get("d0_zero_before"), get("d0_zero_after")},
                 {get("d1_zero_before"), get("d1_zero_after")},
                 {get("d2_zero_before"), get("d2_zero_after")}};
    d.iteration = program::Iteration{get("iteration_size") + 1, get("iteration_stride") + 1,
                                     get("iteration_current")};
    if (get("enable_packet") != 0) {
        d.packet = program::Packet{get("packet_id"), get("packet_type"), get("out_of_order_id")};
    }
    if (get("use_next_bd") != 0) {
        d.next = get("next_bd");
    }
    if (get("lock_acq_enable") != 0) {
        d.acquire = program::LockAction{get("lock_acq_id"), get("lock_acq_val")};
    }
    d.release = program::LockAction{get("lock_rel_id"), get("lock_rel_val")};
    return stated;
}

}  // namespace

const RegisterWrites::Argument& RegisterWrites::argument(std::size_t index) {
    auto& buffers = lowering_.program.external_buffers;
    while (index >= arguments_.size()) {
        program::ExternalBuffer buffer;
        buffer.name = unique_name(buffers, fmt::format("argument{}", arguments_.size()));
        buffer.bytes = kWordBytes;  // grows with the descriptors that reach further
        arguments_.push_back({static_cast<std::int64_t>(buffers.size()), 0});
        buffers.push_back(buffer);
        lowering_.external_types.push_back({1, kWordBits});
        lowering_.note(
            "address patches name arguments behind those of the sequence: buffers of "
            "their descriptors' size, as hosts add for traces");
    }
    return arguments_[index];
}

// The processor writes, whatever it is for. What the further words of a block take is not
// published: it is one write.
void RegisterWrites::count_write(bool has_effect) {
    if (has_effect) {
        return;  // takes its time as what it does
    }
    auto& sequence = lowering_.program.sequence;
    auto* last =
        sequence.empty() ? nullptr : std::get_if<program::WriteRegisters>(&sequence.back());
    if (last != nullptr) {
        ++last->writes;
    } else {
        sequence.push_back(program::WriteRegisters{1});
    }
}

void RegisterWrites::write32(const Operation& operation, Scope& scope) {
    // Since 2026 the address may be an index into a buffer: left to field() to refuse.
    const bool has_effect = registers_.write(
        address_of(operation, scope), static_cast<std::uint32_t>(field(operation, scope, "value")),
        operation.where);
    count_write(has_effect || operation.attribute(kOfABlock).has_value());
}

void RegisterWrites::maskwrite32(const Operation& operation, Scope& scope) {
    count_write(registers_.write(
        address_of(operation, scope), static_cast<std::uint32_t>(field(operation, scope, "value")),
        static_cast<std::uint32_t>(field(operation, scope, "mask")), operation.where));
}

void RegisterWrites::maskpoll(const Operation& operation, Scope& scope) {
    const auto wait = registers_.poll(address_of(operation, scope),
                                      static_cast<std::uint32_t>(field(operation, scope, "value")),
                                      static_cast<std::uint32_t>(field(operation, scope, "mask")));
    if (!wait) {
        throw ReadError(operation.where,
                        "a poll of anything else than a channel's tasks is not modelled");
    }
    lowering_.program.sequence.push_back(*wait);
}

void RegisterWrites::read_reg(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    lowering_.tile(inside);
    inside.expect(",");
    scope.integer(inside);
    count_write(false);
    lowering_.note("reads of registers take a write's time; what they read is left out");
}

void RegisterWrites::blockwrite(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const auto global = static_cast<std::size_t>(scope.index_of(inside, Value::Kind::Global));
    write_block(lowering_.globals[global], operation, scope);
}

void RegisterWrites::blockwrite_values(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    cursor.group("(");
    if (!cursor.skip_word("values")) {
        cursor.fail("'values'");
    }
    std::vector<std::uint32_t> words;
    while (!cursor.done() && !cursor.peek()->is(":")) {
        words.push_back(static_cast<std::uint32_t>(scope.integer(cursor)));
        cursor.skip(",");
    }
    write_block(words, operation, scope);
}

void RegisterWrites::write_block(const std::vector<std::uint32_t>& words,
                                 const Operation& operation, const Scope& scope) {
    std::uint64_t address = address_of(operation, scope);
    bool has_effect = false;
    for (const std::uint32_t word : words) {
        has_effect |= registers_.write(address, word, operation.where);
        address += kWordBytes;
    }
    count_write(has_effect);
}

void RegisterWrites::address_patch(const Operation& operation, Scope& scope) {
    const auto index = static_cast<std::size_t>(field(operation, scope, "arg_idx"));
    if (index > kMostArguments) {
        throw ReadError(operation.where, fmt::format("no launch has an argument {}", index));
    }
    const Argument to = argument(index);
    registers_.patch(static_cast<std::uint64_t>(field(operation, scope, "addr")), to.buffer,
                     to.offset + field(operation, scope, "arg_plus", 0), operation.where);
}

void RegisterWrites::writebd(const Operation& operation, Scope& scope) {
    const program::TileCoordinate tile{field(operation, scope, "column"),
                                       field(operation, scope, "row", 0)};
    if (!lowering_.config.contains(tile)) {
        throw ReadError(operation.where, "this descriptor's tile is outside the array");
    }
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const std::int64_t first = registers::register_map_of(kind).descriptors +
                               registers::kDescriptorStride * field(operation, scope, "bd_id", 0);
    std::uint64_t address = registers::join(tile, first);
    for (const std::uint32_t word :
         registers::encode_descriptor(kind, stated_descriptor(operation, scope))) {
        registers_.write(address, word, operation.where);
        address += kWordBytes;
    }
    // Older files name the argument here instead of in an address_patch.
    const auto named = integer_attribute(operation, "ddr_id");
    if (named && kind == program::TileKind::Shim) {
        if (*named >= 0 && static_cast<std::size_t>(*named) <= kMostArguments) {
            const Argument to = argument(static_cast<std::size_t>(*named));
            const auto word = static_cast<std::int64_t>(registers::kShimAddressWord) * kWordBytes;
            registers_.patch(registers::join(tile, first + word), to.buffer,
                             to.offset + field(operation, scope, "buffer_offset", 0),
                             operation.where);
        }
    }
}

void RegisterWrites::push_queue(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const program::TileCoordinate tile = read_coordinate(inside);
    inside.expect(",");
    const Location where = inside.where();
    const std::string direction = inside.word();
    inside.expect(":");
    const std::int64_t channel = inside.integer();
    // Attributes bd_id and repeat_count, or since 2026 words behind: bd_id %a repeat %b.
    const std::int64_t id =
        cursor.skip_word("bd_id") ? scope.integer(cursor) : field(operation, scope, "bd_id");
    const std::int64_t repeat = cursor.skip_word("repeat")
                                    ? scope.integer(cursor)
                                    : field(operation, scope, "repeat_count", 0);
    if (direction != "MM2S" && direction != "S2MM") {
        throw ReadError(where, fmt::format("expected MM2S or S2MM, found '{}'", direction));
    }
    push({tile, direction == "MM2S" ? program::Direction::MM2S : program::Direction::S2MM, channel},
         {id, repeat + 1, is_true(operation, "issue_token")}, where);
}

void RegisterWrites::shimtile_push_queue(const Operation& operation, Scope& scope) {
    push(allocation(lowering_, text_attribute(operation, "metadata"), operation.where),
         {field(operation, scope, "bd_id"), field(operation, scope, "repeat_count", 0) + 1,
          is_true(operation, "issue_token")},
         operation.where);
}

void RegisterWrites::push(const program::ChannelId& channel, const program::Task& task,
                          Location where) {
    constexpr std::int64_t kMostDescriptors = 64, kMostRuns = 256, kMostChannels = 6;
    if (!lowering_.config.contains(channel.tile) || task.descriptor < 0 ||
        task.descriptor >= kMostDescriptors || task.repeat < 1 || task.repeat > kMostRuns ||
        channel.index < 0 || channel.index >= kMostChannels) {
        throw ReadError(where,
                        "this push names no channel, descriptor 0..63 and repeat_count "
                        "0..255 of the array");
    }
    const std::int64_t queue = registers::queue_offset(lowering_.config.kind_of(channel.tile),
                                                       {channel.direction, channel.index, true});
    registers_.write(registers::join(channel.tile, queue), registers::encode_task(task), where);
}

}  // namespace tilesim::workloads::npu::mlir::registers
