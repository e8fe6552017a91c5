#include "workloads/npu/mlir/registers/sequence_operands.hpp"

#include <fmt/format.h>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::registers {

namespace {

// What stands at the key's place: (%address, %value, %mask).
std::optional<std::int64_t> operand(const Operation& operation, const Scope& scope,
                                    std::string_view key) {
    static const std::map<std::string_view, std::vector<std::string_view>> kOrders{
        {"write32", {"address", "value"}},          {"maskwrite32", {"address", "value", "mask"}},
        {"maskpoll", {"address", "value", "mask"}}, {"blockwrite", {"data", "address"}},
        {"blockwrite_values", {"address"}},         {"address_patch", {"arg_plus"}}};
    const auto order = kOrders.find(operation_name(operation));
    if (order == kOrders.end() || operation.items.empty() || !operation.items.front().opens("(") ||
        !is_positional(operation.items.front())) {
        return std::nullopt;
    }
    Cursor inside(operation.items.front());
    for (const std::string_view each : order->second) {
        if (inside.done()) {
            break;
        }
        if (each == key) {
            return scope.integer(inside);
        }
        inside.take();
        inside.skip(",");
    }
    return std::nullopt;
}

// (column = %c, row = %r)
std::optional<std::int64_t> named_operand(const Operation& operation, const Scope& scope,
                                          std::string_view key) {
    for (const Item& group : operation.items) {
        for (std::size_t i = 0; group.opens("(") && i + 2 < group.items.size(); ++i) {
            if (group.items[i].is_word(key) &&
                (group.items[i + 1].is("=") || group.items[i + 1].is(":"))) {
                const std::vector<Item> value{group.items[i + 2]};
                Cursor cursor(value, group.items[i].token.where);
                return scope.integer(cursor);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view operation_name(const Operation& operation) {
    std::string_view name = operation.name;
    for (const std::string_view prefix : {"aiex.npu.", "aiex.ipu.", "aiex."}) {
        if (name.starts_with(prefix)) {
            return name.substr(prefix.size());
        }
    }
    return name;
}

bool is_positional(const Item& group) {
    return !group.items.empty() && !group.items.front().is(TokenKind::Word);
}

std::int64_t field(const Operation& operation, const Scope& scope, std::string_view key,
                   std::optional<std::int64_t> missing) {
    auto value = integer_attribute(operation, key);
    value = value ? value : operand(operation, scope, key);
    value = value ? value : named_operand(operation, scope, key);
    value = value ? value : missing;
    if (!value) {
        throw ReadError(operation.where, fmt::format("{} needs '{}'", operation.name, key));
    }
    return *value;
}

program::ChannelId allocation(const Lowering& lowering, const std::string& symbol, Location where) {
    const auto place = lowering.allocations.find(symbol);
    if (place == lowering.allocations.end()) {
        throw syntax::unknown_symbol(where, "aie.shim_dma_allocation", symbol,
                                     syntax::keys_of(lowering.allocations));
    }
    return place->second;
}

void send_packet(const Lowering& lowering, const std::string& symbol,
                 const program::ChannelId& channel, program::BufferDescriptor& descriptor) {
    const auto packet = lowering.allocation_packets.find(symbol);
    if (packet != lowering.allocation_packets.end() && !descriptor.packet &&
        channel.direction == program::Direction::MM2S) {
        descriptor.packet = packet->second;
    }
}

}  // namespace tilesim::workloads::npu::mlir::registers
