// What a descriptor says of its data's layout: dimensions, padding, iteration, packet.
//
// Errors:  ReadError where a key is not known or a number out of range.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/npu/mlir/descriptors/transfer.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

// [<size = 8, stride = 4>, ...] or [<const_pad_before = 2, const_pad_after = 3>, ...]
void read_layout(const Item& list, const Scope& scope, Transfer& transfer);
// #aie<bd_dim_layout_array[...]>, #aie<bd_pad_layout_array[...]>
void read_layout_attribute(const std::vector<Item>& items, Location where, const Scope& scope,
                           Transfer& transfer);
// The attribute padDimensions of an object FIFO.
void read_padding(const Operation& operation, const Scope& scope, Transfer& transfer);
// Where `key` states what else than zero is padded with: that takes no other time.
void note_pad_value(Lowering& lowering, const Operation& operation, std::string_view key);
// #aie.bd_iteration<size = 4, stride = 1024, current = 2>; the stride still in elements.
program::Iteration read_iteration(const std::vector<Item>& items, Location where);
// #aie.packet_info<pkt_type = 0, pkt_id = 1>, or the same without its name.
program::Packet read_packet(const std::vector<Item>& items, Location where);

}  // namespace tilesim::workloads::npu::mlir::descriptors
