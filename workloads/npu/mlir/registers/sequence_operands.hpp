// The numbers an operation of the run-time sequence is given, in the spellings of several compiler
// generations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::registers {

// Its name without the dialect: "sync" of aiex.npu.sync.
std::string_view operation_name(const Operation& operation);
// Whether a group lists operands without names.
bool is_positional(const Item& group);
// An attribute {key = 1}, or since 2026 an operand of this name or at its place. `missing`: what
// stands for it when it is not there. Throws ReadError.
std::int64_t field(const Operation& operation, const Scope& scope, std::string_view key,
                   std::optional<std::int64_t> missing = std::nullopt);

// The channel of an aie.shim_dma_allocation. Throws ReadError.
program::ChannelId allocation(const Lowering& lowering, const std::string& symbol, Location where);
// A transfer by an allocation that states a packet sends that, where it states none itself.
void send_packet(const Lowering& lowering, const std::string& symbol,
                 const program::ChannelId& channel, program::BufferDescriptor& descriptor);

}  // namespace tilesim::workloads::npu::mlir::registers
