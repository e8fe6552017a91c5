// Reads blocks of a DMA region: acquire, aie.dma_bd, release, where to go next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/descriptors/descriptor.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

// The blocks of a region as descriptors of a channel.
struct Chain {
    std::vector<program::BufferDescriptor> descriptors;  // the first is where it begins
    std::int64_t repeat = 1;                             // from a fourth dimension
    std::vector<std::int64_t> outer_sizes;               // the fourth of each descriptor, or 1
    bool ignored_padding = false;  // of a channel that receives, which cannot pad
    bool of_host = false;          // of one of them, see StatedDescriptor
};
void note_ignored(Lowering& lowering, const Chain& chain);
// Follows the blocks from `first` on. Blocks already in `ids_by_block` are not read again.
// `scope`: the region's. `packet`: what is sent where a descriptor states none. Throws ReadError.
Chain read_chain(const Lowering& lowering, const Item& region, const Block& first,
                 const program::ChannelId& channel, const Scope& scope, DescriptorIds& ids,
                 std::map<const Block*, std::int64_t>& ids_by_block,
                 const std::optional<program::Packet>& packet = {});

// Whether an operation between transfers declares what holds in the whole device.
bool is_declaration(const Operation& operation);
const Block& block_of(const Item& region, const std::string& label, Location where);
// The block that `first` leads to through blocks that hold nothing but the way on.
const Block& behind_empty_blocks(const Item& region, const Block& first);

}  // namespace tilesim::workloads::npu::mlir::descriptors
