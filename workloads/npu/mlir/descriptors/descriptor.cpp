#include "workloads/npu/mlir/descriptors/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/descriptors/transfer.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

namespace {

struct Parts {  // what a dma_bd says: in its parentheses, behind them, in its dictionary
    Transfer transfer;
    std::optional<std::int64_t> length;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::int64_t iteration_size = 1;
    std::int64_t iteration_stride = 0;  // elements
};

std::vector<std::int64_t> integers(const Item& group, const Scope& scope) {
    std::vector<std::int64_t> numbers;
    Cursor cursor(group);
    while (!cursor.done()) {
        numbers.push_back(scope.integer(cursor));
        cursor.skip(",");
    }
    return numbers;
}

void read_word_part(Cursor& cursor, const Scope& scope, Parts& parts) {
    const Location where = cursor.where();
    const std::string key = cursor.word();
    if (!cursor.skip("=") && !(key.starts_with("pad") && !cursor.done())) {
        cursor.fail("'='");
    }
    if (key == "offset") {
        parts.transfer.offset = scope.integer(cursor);
    } else if (key == "len") {
        parts.length = scope.integer(cursor);
    } else if (key == "sizes") {
        parts.sizes = integers(cursor.group("["), scope);
    } else if (key == "strides") {
        parts.strides = integers(cursor.group("["), scope);
    } else if (key == "pad" || key == "pads" || key == "padding") {
        read_layout(cursor.group("["), scope, parts.transfer);
    } else if (key == "pad_value") {
        scope.integer(cursor);  // what is put there takes no other time
    } else {
        throw ReadError(where, fmt::format("'{}' of a dma_bd is not modelled; known are offset, "
                                           "len, sizes, strides, pad, pad_value",
                                           key));
    }
}

// dyn_sizes(%a, %b : i64, i64)
std::vector<std::int64_t> values_before_types(Cursor inside, const Scope& scope) {
    std::vector<std::int64_t> numbers;
    while (!inside.done() && !inside.skip(":")) {
        numbers.push_back(scope.integer(inside));
        inside.skip(",");
    }
    return numbers;
}
std::int64_t value_before_type(Cursor inside, const Scope& scope) {
    return scope.integer(inside);
}

// What stands behind the parentheses, each with its type: bd_id_val %i : i32, iteration_size_val
// and iteration_stride_val (autumn of 2026); dyn_offset(%o : i64) and its like (spring of 2026).
void read_clauses(Cursor& cursor, const Scope& scope, Parts& parts) {
    while (!cursor.done()) {
        if (cursor.skip(":")) {
            if (!cursor.done()) {
                cursor.take();
            }
            continue;
        }
        if (!cursor.peek()->is(TokenKind::Word)) {
            cursor.take();
            continue;
        }
        const Location where = cursor.where();
        const std::string key = cursor.word();
        if (key == "bd_id_val") {
            cursor.value();  // see stated_id()
        } else if (key == "iteration_size_val") {
            parts.iteration_size = scope.integer(cursor);
        } else if (key == "iteration_stride_val") {
            parts.iteration_stride = scope.integer(cursor);
        } else if (key == "dyn_offset") {
            parts.transfer.offset = value_before_type(Cursor(cursor.group("(")), scope);
        } else if (key == "dyn_len") {
            parts.length = value_before_type(Cursor(cursor.group("(")), scope);
        } else if (key == "dyn_sizes") {
            parts.sizes = values_before_types(Cursor(cursor.group("(")), scope);
        } else if (key == "dyn_strides") {
            parts.strides = values_before_types(Cursor(cursor.group("(")), scope);
        } else {
            throw ReadError(where,
                            fmt::format("'{}' behind a dma_bd is not modelled; known are "
                                        "bd_id_val, iteration_size_val, iteration_stride_val",
                                        key));
        }
    }
}

void read_attributes(const Operation& operation, const Scope& scope, Parts& parts,
                     StatedDescriptor& stated) {
    // task_id: mlir-air's, which keeps tasks from sharing a descriptor before these have their ids.
    // operandSegmentSizes: operands besides the buffer would be numbers of the launch.
    static constexpr std::array kIgnored{"next_bd_id",          "use_next_bd", "loc",  "task_id",
                                         "operandSegmentSizes", "length_unit", "bd_id"};
    for (const Item& group : operation.items) {
        if (!group.opens("{")) {
            continue;
        }
        for (std::size_t i = 0; i < group.items.size(); ++i) {
            if (i > 0 && !group.items[i - 1].is(",")) {
                continue;
            }
            const std::string& key = group.items[i].token.text;
            const Location where = group.items[i].token.where;
            const std::vector<Item> value = *operation.attribute(key);
            Cursor cursor(value, where);
            if (key == "len" || key == "static_len") {
                parts.length = cursor.integer();
            } else if (key == "offset" || key == "static_offset") {
                parts.transfer.offset = cursor.integer();
            } else if (key == "static_sizes") {  // the generic form of sizes, strides
                parts.sizes = integers_attribute(operation, key);
            } else if (key == "static_strides") {
                parts.strides = integers_attribute(operation, key);
            } else if (key == "packet") {
                stated.descriptor.packet = read_packet(value, where);
            } else if (key == "out_of_order_id") {
                stated.named_descriptor = cursor.integer();
            } else if (key == "dimensions" || key == "pad_dimensions") {
                read_layout_attribute(value, where, scope, parts.transfer);
            } else if (key == "iteration") {
                stated.descriptor.iteration = read_iteration(value, where);
            } else if (key == "burst_length") {
                stated.descriptor.burst_bytes = cursor.integer();
            } else if (key == "offset_parameter" || key == "offset_state_table_idx" ||
                       key == "length_parameter") {
                stated.of_host = true;
            } else if (key == "pad_value") {
                cursor.integer();  // what is put there takes no other time
            } else if (std::find(kIgnored.begin(), kIgnored.end(), key) == kIgnored.end()) {
                throw ReadError(where,
                                fmt::format("attribute '{}' of a dma_bd is not modelled", key));
            }
        }
    }
}

// What a shim or core descriptor has no dimension for becomes its iteration.
void split_outer(const Lowering& lowering, program::TileKind kind, const MemrefType& type,
                 Location where, Transfer& transfer, StatedDescriptor& stated) {
    const auto most = static_cast<std::size_t>(lowering.config.dma_of(kind).dimensions);
    if (transfer.dimensions.size() != most + 1 || kind == program::TileKind::Memory) {
        return;
    }
    const program::Dimension outer = transfer.dimensions.front();
    transfer.dimensions.erase(transfer.dimensions.begin());
    stated.repeat = std::max<std::int64_t>(1, outer.size);
    if (outer.size > 1 && outer.stride != 0) {
        stated.descriptor.iteration =
            program::Iteration{outer.size, words_of(outer.stride, type, where)};
    }
    if (outer.size > 1 && transfer.length % outer.size == 0) {
        std::int64_t inner = 1;
        for (const program::Dimension& d : transfer.dimensions) {
            inner *= std::clamp<std::int64_t>(d.size, 1, transfer.length);
            inner = std::min(inner, transfer.length);
        }
        // The stated length counts all runs, the descriptor's one.
        transfer.length = inner == transfer.length / outer.size ? inner : transfer.length;
    }
}

}  // namespace

std::optional<std::int64_t> stated_id(const Operation& operation, const Scope& scope) {
    const std::vector<Item>& items = operation.items;
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
        if (items[i].is_word("bd_id_val")) {
            const std::vector<Item> value{items[i + 1]};
            Cursor cursor(value, items[i].token.where);
            return scope.integer(cursor);
        }
    }
    return integer_attribute(operation, "bd_id");
}

StatedDescriptor read_dma_bd(const Lowering& lowering, const Operation& operation,
                             const Scope& scope, program::TileCoordinate tile) {
    StatedDescriptor stated;
    Parts parts;
    const program::TileKind kind = lowering.config.kind_of(tile);
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const bool shim = kind == program::TileKind::Shim;
    const std::string name = inside.peek() != nullptr ? inside.peek()->token.text : "";
    stated.descriptor.buffer =
        scope.index_of(inside, shim ? Value::Kind::External : Value::Kind::Buffer);
    inside.expect(":");
    const MemrefType type = shim ? read_argument_memref(inside) : read_memref(inside);
    parts.transfer.type = type;
    int position = 0;  // of offset and length, where they stand without names
    while (!inside.done()) {
        if (inside.skip(",")) {
            continue;
        }
        if (inside.peek()->opens("[")) {
            read_layout(inside.take(), scope, parts.transfer);
        } else if (inside.peek()->is(TokenKind::Word)) {
            read_word_part(inside, scope, parts);
        } else if (position++ == 0) {
            parts.transfer.offset = scope.integer(inside);
        } else {
            parts.length = scope.integer(inside);
        }
    }
    read_clauses(cursor, scope, parts);
    read_attributes(operation, scope, parts, stated);
    if (const auto id = stated_id(operation, scope)) {
        stated.descriptor.id = *id;
        stated.has_id = true;
    }
    if (parts.sizes.size() != parts.strides.size()) {
        throw ReadError(operation.where, fmt::format("{} sizes but {} strides", parts.sizes.size(),
                                                     parts.strides.size()));
    }
    for (std::size_t i = 0; i < parts.sizes.size(); ++i) {
        parts.transfer.dimensions.push_back({parts.sizes[i], parts.strides[i]});
    }
    if (!parts.length && !type.sized) {
        throw ReadError(operation.where, "a transfer of a buffer without a size needs a length");
    }
    parts.transfer.length = parts.length.value_or(type.elements - parts.transfer.offset);
    parts.transfer.offset += elements_before(*scope.find(name), type.element_bits, operation.where);
    split_outer(lowering, kind, type, operation.where, parts.transfer, stated);
    set_transfer(stated.descriptor, parts.transfer, operation.where);
    if (parts.iteration_size < 1) {
        throw ReadError(operation.where, fmt::format("iteration_size_val must be 1 or more, got {}",
                                                     parts.iteration_size));
    }
    if (parts.iteration_size > 1 && parts.iteration_stride != 0) {
        stated.descriptor.iteration = program::Iteration{
            parts.iteration_size, words_of(parts.iteration_stride, type, operation.where)};
    }
    if (operation.attribute("iteration")) {
        auto& stride = stated.descriptor.iteration->stride;
        stride = words_of(stride, type, operation.where);
    }
    return stated;
}

std::int64_t DescriptorIds::next(const program::ChannelId& channel, Location where) {
    if (given_ && given_->first == channel.tile) {
        const std::int64_t id = given_->second;
        given_.reset();
        taken_[channel.tile].insert(id);
        return id;
    }
    const DmaConfig& dma = lowering_.config.dma_of(lowering_.config.kind_of(channel.tile));
    const bool upper = dma.parity_bound_descriptors && channel.index % 2 == 1;
    const bool lower = dma.parity_bound_descriptors && channel.index % 2 == 0;
    return next_of(channel, upper ? dma.descriptors / 2 : 0,
                   lower ? dma.descriptors / 2 : dma.descriptors, where);
}

std::int64_t DescriptorIds::next_of(const program::ChannelId& channel, std::int64_t first,
                                    std::int64_t end, Location where) {
    for (std::int64_t id = first; id < end; ++id) {
        if (taken_[channel.tile].insert(id).second) {
            return id;
        }
    }
    throw ReadError(where, fmt::format("tile {},{} has no free descriptor for this channel",
                                       channel.tile.column, channel.tile.row));
}

}  // namespace tilesim::workloads::npu::mlir::descriptors
