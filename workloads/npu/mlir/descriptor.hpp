// Reads blocks of a DMA region: acquire, aie.dma_bd, release, where to go next.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/transfer.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

// One descriptor and what the file says beside it.
struct StatedDescriptor {
    program::BufferDescriptor descriptor;
    bool has_id = false;
    std::optional<std::int64_t> named_descriptor;  // see Packet::descriptor
    bool offset_of_host = false;                   // the host's scratchpad adds to the offset
    // A fourth dimension of a shim or core descriptor: the chain runs this often.
    std::int64_t repeat = 1;
};

// aie.dma_bd. Throws ReadError.
StatedDescriptor read_dma_bd(const Lowering& lowering, const Operation& operation,
                             const Scope& scope, program::TileCoordinate tile);

// [<size = 8, stride = 4>, ...], outermost first.
void read_dimensions(const Item& list, const Scope& scope, Transfer& transfer);
// The attribute padDimensions of an object FIFO.
void read_padding(const Operation& operation, const Scope& scope, Transfer& transfer);

// #aie.packet_info<pkt_type = 0, pkt_id = 1>, or the same without its name.
program::Packet read_packet(const std::vector<Item>& items, Location where);

// Ids of a tile's descriptors, given out lowest first.
class DescriptorIds {
  public:
    explicit DescriptorIds(const Lowering& lowering) : lowering_(lowering) {}
    void take(program::TileCoordinate tile, std::int64_t id) { taken_[tile].insert(id); }
    void free(program::TileCoordinate tile, std::int64_t id) { taken_[tile].erase(id); }
    // The lowest free id that the channel may use. Throws ReadError when all are taken.
    std::int64_t next(const program::ChannelId& channel, Location where);
    // What `next` gives first, whether taken or not; nothing: the lowest free one again.
    void give(std::optional<std::pair<program::TileCoordinate, std::int64_t>> id) { given_ = id; }

  private:
    const Lowering& lowering_;
    std::optional<std::pair<program::TileCoordinate, std::int64_t>> given_{};
    std::map<program::TileCoordinate, std::set<std::int64_t>> taken_;
};

// The blocks of a region as descriptors of a channel.
struct Chain {
    std::vector<program::BufferDescriptor> descriptors;  // the first is where it begins
    std::int64_t repeat = 1;                             // from a fourth dimension
    bool ignored_padding = false;  // of a channel that receives, which cannot pad
    bool offset_of_host = false;   // of one of them, see StatedDescriptor
};
void note_ignored(Lowering& lowering, const Chain& chain);
// Follows the blocks from `first` on. Blocks already in `ids_by_block` are not read again.
// `scope`: the region's. Throws ReadError.
Chain read_chain(const Lowering& lowering, const Item& region, const Block& first,
                 const program::ChannelId& channel, const Scope& scope, DescriptorIds& ids,
                 std::map<const Block*, std::int64_t>& ids_by_block);

const Block& block_of(const Item& region, const std::string& label, Location where);
// The block that `first` leads to through blocks that hold nothing but the way on.
const Block& behind_empty_blocks(const Item& region, const Block& first);

}  // namespace tilesim::workloads::npu::mlir
