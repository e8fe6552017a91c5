#include "workloads/npu/mlir/sequence/shim_transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/descriptors/transfer.hpp"
#include "workloads/npu/mlir/registers/sequence_operands.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/unknown_attributes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using descriptors::elements_before;
using descriptors::factor_dimensions;
using descriptors::read_packet;
using descriptors::set_transfer;
using descriptors::Transfer;
using descriptors::words_of;
using registers::allocation;
using registers::send_packet;

void ShimTransfers::memcpy_nd(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const std::string argument = inside.peek() != nullptr ? inside.peek()->token.text : "";
    const std::int64_t buffer = scope.index_of(inside, Value::Kind::External);
    const auto offsets = numbers(inside, scope);
    const auto sizes = numbers(inside, scope);
    auto strides = numbers(inside, scope);
    const bool earlier = strides.size() == 3;
    if (earlier) {
        strides.push_back(1);
    }
    if (offsets.size() != 4 || sizes.size() != 4 || strides.size() != 4) {
        throw ReadError(operation.where, "expected 4 offsets, 4 sizes and 3 or 4 strides");
    }
    for (std::size_t i = 4; i-- > 0;) {
        // The compilers of three strides, before July 2024, programmed no wrap in front of a stride
        // of 0: the dimension goes on where the one inside it ends.
        if (earlier && (i == 1 || i == 2) && strides[i] == 0 && sizes[i] > 1) {
            strides[i] = strides[i + 1] * sizes[i + 1];
        }
        const bool sane = std::abs(offsets[i]) < (1LL << 31) && std::abs(sizes[i]) < (1 << 30) &&
                          std::abs(strides[i]) < (1LL << 31);
        if (!sane || sizes[i] < 1) {
            throw ReadError(operation.where, fmt::format("size {} is out of range", sizes[i]));
        }
    }
    static const std::set<std::string_view> kKnown{"id",
                                                   "metadata",
                                                   "issue_token",
                                                   "burst_length",
                                                   "packet",
                                                   "axcache",
                                                   "d0_zero_before",
                                                   "d1_zero_before",
                                                   "d2_zero_before",
                                                   "d0_zero_after",
                                                   "d1_zero_after",
                                                   "d2_zero_after",
                                                   "static_offsets",
                                                   "static_sizes",
                                                   "static_strides",
                                                   "operandSegmentSizes",
                                                   "x",
                                                   "y"};
    note_unknown_attributes(lowering_, operation, kKnown);
    const program::ChannelId channel =
        allocation(lowering_, text_attribute(operation, "metadata"), operation.where);
    Transfer transfer;
    transfer.type = lowering_.external_types[static_cast<std::size_t>(buffer)];
    transfer.length = 1;
    const Value& view = *scope.find(argument);
    if (view.element_bits != 0) {
        transfer.type.element_bits = view.element_bits;
    }
    transfer.offset = elements_before(view, transfer.type.element_bits, operation.where);
    for (std::size_t i = 0; i < 4; ++i) {
        transfer.offset += offsets[i] * strides[i];
        if (i > 0) {
            transfer.length = std::min<std::int64_t>(transfer.length * sizes[i], 1LL << 40);
            transfer.dimensions.push_back({sizes[i], strides[i]});
        }
    }
    program::WriteDescriptor write{channel.tile, {}};
    write.descriptor.id = integer_attribute(operation, "id").value_or(0);
    write.descriptor.buffer = buffer;
    write.descriptor.burst_bytes = integer_attribute(operation, "burst_length").value_or(0);
    packet_of(operation, inside, write.descriptor);
    send_packet(lowering_, text_attribute(operation, "metadata"), channel, write.descriptor);
    no_padding(operation);
    set_transfer(write.descriptor, transfer, operation.where);
    factor_dimensions(write.descriptor,
                      lowering_.config.dma_of(lowering_.config.kind_of(channel.tile)));
    if (sizes[0] > 1 && strides[0] != 0) {
        write.descriptor.iteration =
            program::Iteration{sizes[0], words_of(strides[0], transfer.type, operation.where)};
    }
    registers_.forget(channel.tile, write.descriptor.id);
    lowering_.program.sequence.push_back(write);
    program::PushTask push{channel, {}};
    push.task.descriptor = write.descriptor.id;
    push.task.repeat = sizes[0];
    // The compiler lets every receiving transfer issue its token.
    push.task.token =
        channel.direction == program::Direction::S2MM || is_true(operation, "issue_token");
    lowering_.program.sequence.push_back(push);
}

void ShimTransfers::packet_of(const Operation& operation, Cursor& inside,
                              program::BufferDescriptor& descriptor) {
    if (inside.skip(",") && inside.skip_word("packet")) {
        inside.expect("=");
        std::vector<Item> items;
        while (!inside.done()) {
            items.push_back(inside.take());
        }
        descriptor.packet = read_packet(items, operation.where);
    } else if (const auto value = operation.attribute("packet")) {
        descriptor.packet = read_packet(*value, operation.where);
    }
}

void ShimTransfers::no_padding(const Operation& operation) {
    for (const char* key : {"d0_zero_before", "d1_zero_before", "d2_zero_before", "d0_zero_after",
                            "d1_zero_after", "d2_zero_after"}) {
        if (integer_attribute(operation, key).value_or(0) != 0) {
            throw ReadError(operation.where, fmt::format("{}: a shim tile's DMA cannot pad", key));
        }
    }
}

std::vector<std::int64_t> ShimTransfers::numbers(Cursor& cursor, const Scope& scope) {
    std::vector<std::int64_t> values;
    Cursor list(cursor.group("["));
    while (!list.done()) {
        values.push_back(scope.integer(list));
        list.skip(",");
    }
    return values;
}

}  // namespace tilesim::workloads::npu::mlir::sequence
