#include "workloads/npu/mlir/register_writes.hpp"

#include <fmt/format.h>

#include "workloads/npu/mlir/sequence_operands.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

// Where a tile's registers begin.
std::uint64_t tile_base(program::TileCoordinate tile) {
    return static_cast<std::uint64_t>(tile.column) << 25 | static_cast<std::uint64_t>(tile.row)
                                                               << 20;
}

// The array's address: absolute, or an offset in a tile that is named beside it.
std::uint64_t address_of(const Operation& operation, const Scope& scope) {
    const auto address = static_cast<std::uint64_t>(field(operation, scope, "address"));
    const auto column = integer_attribute(operation, "column");
    const auto row = integer_attribute(operation, "row");
    const std::uint64_t offset = address & 0xFFFFF;
    if (!column || !row || address != offset) {
        return address;
    }
    return tile_base({*column, *row}) | offset;
}

constexpr std::size_t kMostArguments = 31;

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

void RegisterWrites::write32(const Operation& operation, Scope& scope) {
    // Since 2026 the address may be an index into a buffer: left to field() to refuse.
    registers_.write(address_of(operation, scope),
                     static_cast<std::uint32_t>(field(operation, scope, "value")), operation.where);
}

void RegisterWrites::maskwrite32(const Operation& operation, Scope& scope) {
    registers_.write(address_of(operation, scope),
                     static_cast<std::uint32_t>(field(operation, scope, "value")),
                     static_cast<std::uint32_t>(field(operation, scope, "mask")), operation.where);
}

void RegisterWrites::blockwrite(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const auto global = static_cast<std::size_t>(scope.index_of(inside, Value::Kind::Global));
    std::uint64_t address = address_of(operation, scope);
    for (const std::uint32_t word : lowering_.globals[global]) {
        registers_.write(address, word, operation.where);
        address += kWordBytes;
    }
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
    const auto get = [&](std::string_view key) {
        return static_cast<std::uint32_t>(field(operation, scope, key, 0));
    };
    const program::TileCoordinate tile{field(operation, scope, "column"),
                                       field(operation, scope, "row", 0)};
    if (!lowering_.config.contains(tile)) {
        throw ReadError(operation.where, "this descriptor's tile is outside the array");
    }
    const std::uint32_t lock = get("lock_rel_val") % 128 << 18 | get("lock_rel_id") << 13 |
                               get("lock_acq_enable") << 12 | get("lock_acq_val") % 128 << 5 |
                               get("lock_acq_id");
    const std::uint32_t next =
        get("next_bd") << 27 | get("use_next_bd") << 26 | get("valid_bd") << 25;
    const std::uint32_t packet = get("enable_packet") << 30 | get("out_of_order_id") << 24 |
                                 get("packet_id") << 19 | get("packet_type") << 16;
    std::vector<std::uint32_t> words;
    std::uint64_t base = 0x1D000;
    switch (lowering_.config.kind_of(tile)) {
        case program::TileKind::Core:
            words = {get("buffer_offset") / 4 << 14 | get("buffer_length"),
                     packet,
                     get("d1_stride") << 13 | get("d0_stride"),
                     get("d1_size") << 21 | get("d0_size") << 13 | get("d2_stride"),
                     get("iteration_size") << 13 | get("iteration_stride"),
                     next | lock};
            break;
        case program::TileKind::Shim:
            words = {get("buffer_length"),
                     get("buffer_offset"),
                     packet,
                     get("d0_size") << 20 | get("d0_stride"),
                     get("d1_size") << 20 | get("d1_stride"),
                     get("d2_stride"),
                     get("iteration_size") << 20 | get("iteration_stride"),
                     next | lock};
            break;
        case program::TileKind::Memory:
            base = 0xA0000;
            words = {get("enable_packet") << 31 | get("packet_type") << 28 |
                         get("packet_id") << 23 | get("out_of_order_id") << 17 |
                         get("buffer_length"),
                     get("d0_zero_before") << 26 | get("next_bd") << 20 | get("use_next_bd") << 19 |
                         get("buffer_offset") / 4,
                     get("d0_size") << 17 | get("d0_stride"),
                     get("d1_zero_before") << 27 | get("d1_size") << 17 | get("d1_stride"),
                     get("d2_zero_before") << 27 | get("d2_size") << 17 | get("d2_stride"),
                     get("d2_zero_after") << 28 | get("d1_zero_after") << 23 |
                         get("d0_zero_after") << 17,
                     get("iteration_size") << 17 | get("iteration_stride"),
                     get("valid_bd") << 31 | get("lock_rel_val") % 128 << 24 |
                         get("lock_rel_id") << 16 | get("lock_acq_enable") << 15 |
                         get("lock_acq_val") % 128 << 8 | get("lock_acq_id")};
            break;
    }
    std::uint64_t address = tile_base(tile) | (base + 0x20 * get("bd_id"));
    for (const std::uint32_t word : words) {
        registers_.write(address, word, operation.where);
        address += kWordBytes;
    }
    // Older files name the argument here instead of in an address_patch.
    if (const auto named = integer_attribute(operation, "ddr_id")) {
        if (*named >= 0 && static_cast<std::size_t>(*named) <= kMostArguments) {
            const Argument to = argument(static_cast<std::size_t>(*named));
            registers_.patch(tile_base(tile) | (0x1D004 + 0x20 * get("bd_id")), to.buffer,
                             to.offset + get("buffer_offset"), operation.where);
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
    if (!lowering_.config.contains(tile) || (direction != "MM2S" && direction != "S2MM") ||
        id < 0 || id > 63 || repeat < 0 || repeat > 255 || channel < 0 || channel > 5) {
        throw ReadError(where,
                        "this push names no channel, descriptor 0..63 and repeat_count "
                        "0..255 of the array");
    }
    const bool memory = lowering_.config.kind_of(tile) == program::TileKind::Memory;
    const std::uint64_t base = memory          ? (direction == "MM2S" ? 0xA0630 : 0xA0600)
                               : tile.row == 0 ? (direction == "MM2S" ? 0x1D210 : 0x1D200)
                                               : (direction == "MM2S" ? 0x1DE10 : 0x1DE00);
    const std::uint64_t address =
        tile_base(tile) | (base + 8 * static_cast<std::uint64_t>(channel) + 4);
    const auto word = static_cast<std::uint32_t>(id | repeat << 16);
    registers_.write(address, word | (is_true(operation, "issue_token") ? 1U << 31 : 0U), where);
}

}  // namespace tilesim::workloads::npu::mlir
