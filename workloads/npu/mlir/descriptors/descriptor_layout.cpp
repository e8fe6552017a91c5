#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

namespace {

// <2, 1>: what is added before and after.
bool read_plain_padding(const Item& group, const Scope& scope, Transfer& transfer) {
    Cursor entry(group);
    if (entry.done() || entry.peek()->is(TokenKind::Word)) {
        return false;
    }
    program::Padding padding;
    padding.before = scope.integer(entry);
    entry.expect(",");
    padding.after = scope.integer(entry);
    transfer.padding.push_back(padding);
    return true;
}

struct Field {
    std::string key;
    std::int64_t number;
    Location where;
};

// The fields of an attribute #aie.name<key = number, ...>.
std::vector<Field> read_fields(const std::vector<Item>& items, Location where) {
    Cursor cursor(items, where);
    while (!cursor.done() && !cursor.peek()->opens("<")) {
        cursor.take();
    }
    Cursor inside(cursor.group("<"));
    std::vector<Field> fields;
    while (!inside.done()) {
        const Location at = inside.where();
        const std::string key = inside.word();
        inside.expect("=");
        fields.push_back({key, inside.integer(), at});
        inside.skip(",");
    }
    return fields;
}

}  // namespace

void read_layout(const Item& list, const Scope& scope, Transfer& transfer) {
    Cursor cursor(list);
    while (!cursor.done()) {
        const Item& group = cursor.group("<");
        if (read_plain_padding(group, scope, transfer)) {
            cursor.skip(",");
            continue;
        }
        Cursor entry(group);
        program::Dimension dimension{0, 0};
        program::Padding padding;
        bool pads = false;
        while (!entry.done()) {
            const Location where = entry.where();
            const std::string key = entry.word();
            entry.expect("=");
            const std::int64_t number = scope.integer(entry);
            entry.skip(",");
            if (key == "size") {
                dimension.size = number;
            } else if (key == "stride") {
                dimension.stride = number;
            } else if (key == "const_pad_before") {
                padding.before = number;
                pads = true;
            } else if (key == "const_pad_after") {
                padding.after = number;
                pads = true;
            } else {
                throw ReadError(where, fmt::format("'{}' is not modelled here; known are size, "
                                                   "stride, const_pad_before, const_pad_after",
                                                   key));
            }
        }
        if (pads) {
            transfer.padding.push_back(padding);
        } else {
            transfer.dimensions.push_back(dimension);
        }
        cursor.skip(",");
    }
}

void read_layout_attribute(const std::vector<Item>& items, Location where, const Scope& scope,
                           Transfer& transfer) {
    Cursor cursor(items, where);
    while (!cursor.done() && !cursor.peek()->opens("<") && !cursor.peek()->opens("[")) {
        cursor.take();
    }
    const Item& group = cursor.take();
    if (group.opens("[")) {
        read_layout(group, scope, transfer);
    } else {
        read_layout_attribute(group.items, group.token.where, scope, transfer);
    }
}

program::Iteration read_iteration(const std::vector<Item>& items, Location where) {
    program::Iteration iteration;
    for (const auto& [key, number, at] : read_fields(items, where)) {
        if ((key != "size" && key != "stride" && key != "current") || number < 0) {
            throw ReadError(at, fmt::format("an iteration has size, stride and current, not {} = "
                                            "{}",
                                            key, number));
        }
        (key == "size"     ? iteration.size
         : key == "stride" ? iteration.stride
                           : iteration.current) = number;
    }
    if (iteration.size < 1 || iteration.current >= iteration.size) {
        throw ReadError(where, "an iteration needs size >= 1 and current < size");
    }
    return iteration;
}

void read_padding(const Operation& operation, const Scope& scope, Transfer& transfer) {
    if (const auto padding = operation.attribute("padDimensions")) {
        read_layout_attribute(*padding, operation.where, scope, transfer);
    }
}

void note_pad_value(Lowering& lowering, const Operation& operation, std::string_view key) {
    if (integer_attribute(operation, key).value_or(0) != 0) {
        lowering.note(fmt::format("what channels pad with is zero here, whatever {} says", key));
    }
}

program::Packet read_packet(const std::vector<Item>& items, Location where) {
    program::Packet packet;
    for (const auto& [key, number, at] : read_fields(items, where)) {
        const bool id = key == "pkt_id";
        if (key == "out_of_order_id" && number >= 0 && number < 64) {
            packet.descriptor = number;
            continue;
        }
        if ((!id && key != "pkt_type") || number < 0 || number > (id ? 31 : 7)) {
            throw ReadError(at, fmt::format("a packet has pkt_id 0..31 and pkt_type 0..7, not {} "
                                            "= {}",
                                            key, number));
        }
        (id ? packet.id : packet.type) = number;
    }
    return packet;
}

}  // namespace tilesim::workloads::npu::mlir::descriptors
