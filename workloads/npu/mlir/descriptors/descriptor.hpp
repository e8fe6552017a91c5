// One descriptor as a design states it, and the ids of a tile's descriptors.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/npu/mlir/descriptors/transfer.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

// One descriptor and what the file says beside it.
struct StatedDescriptor {
    program::BufferDescriptor descriptor;
    bool has_id = false;
    std::optional<std::int64_t> named_descriptor;  // see Packet::descriptor
    bool of_host = false;  // the host's scratchpad adds to the offset or the length
    // A fourth dimension of a shim or core descriptor: the chain runs this often.
    std::int64_t repeat = 1;
};

// The number of an aie.dma_bd where it is stated: bd_id, or since 2026 one taken from a pool
// (bd_id_val %id). Throws ReadError.
std::optional<std::int64_t> stated_id(const Operation& operation, const Scope& scope);

// aie.dma_bd. Throws ReadError.
StatedDescriptor read_dma_bd(const Lowering& lowering, const Operation& operation,
                             const Scope& scope, program::TileCoordinate tile);

// Ids of a tile's descriptors, given out lowest first.
class DescriptorIds {
  public:
    explicit DescriptorIds(const Lowering& lowering) : lowering_(lowering) {}
    void take(program::TileCoordinate tile, std::int64_t id) { taken_[tile].insert(id); }
    void free(program::TileCoordinate tile, std::int64_t id) { taken_[tile].erase(id); }
    // The lowest free id that the channel may use. Throws ReadError when all are taken.
    std::int64_t next(const program::ChannelId& channel, Location where);
    // The same among those from `first` to before `end`.
    std::int64_t next_of(const program::ChannelId& channel, std::int64_t first, std::int64_t end,
                         Location where);
    // What `next` gives first, whether taken or not; nothing: the lowest free one again.
    void give(std::optional<std::pair<program::TileCoordinate, std::int64_t>> id) { given_ = id; }

  private:
    const Lowering& lowering_;
    std::optional<std::pair<program::TileCoordinate, std::int64_t>> given_{};
    std::map<program::TileCoordinate, std::set<std::int64_t>> taken_;
};

}  // namespace tilesim::workloads::npu::mlir::descriptors
