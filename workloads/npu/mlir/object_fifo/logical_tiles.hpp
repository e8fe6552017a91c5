// The logical tiles of a design (aie.logical_tile): what it states of their places, and what of the
// array they need.
//
// Errors:  ReadError where one is malformed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

struct LogicalTile {
    std::string name;
    Location where;
    program::TileKind kind = program::TileKind::Core;
    std::optional<std::int64_t> column{}, row{};
    std::int64_t sends = 0, receives = 0;           // channels it needs
    std::vector<std::vector<std::string>> flows{};  // a channel each: the tiles at its other ends
    std::vector<std::string> cascade_to{}, cascade_from{};
    std::vector<std::string> beside{};  // cores whose memory it uses
    bool movable = false;               // nothing says where it is
    bool placed() const { return column && row; }
};

class LogicalTiles {
  public:
    explicit LogicalTiles(const Lowering& lowering);

    std::vector<LogicalTile>& all() { return tiles_; }
    const std::vector<LogicalTile>& all() const { return tiles_; }
    // nullptr: the name is no logical tile's.
    LogicalTile* tile_of(const std::string& name);
    // Where a tile lies, logical or not; nothing while it has no place.
    std::optional<program::TileCoordinate> place_of(const std::string& name);
    // Places of the tiles that are none of these.
    const std::set<program::TileCoordinate>& physical() const { return taken_; }
    // Channels that those of them use: sending, receiving.
    using Channels = std::pair<std::int64_t, std::int64_t>;
    const std::map<program::TileCoordinate, Channels>& channels_used() const { return used_; }
    // Ends of object FIFOs, the producer first.
    const std::vector<std::vector<std::string>>& fifos() const { return fifos_; }

  private:
    // %t = aie.logical_tile<CoreTile>(?, 3)
    void read(const Operation& operation);
    void note_physical(const Operation& operation);
    // Who sends to whom, and what that takes.
    void read_uses();
    // The first end sends, the others receive.
    void use_channel(const std::vector<std::string>& ends, std::size_t end);
    // Flows name their ports: several may leave from one channel, and not all are channels.
    void flow_uses(const Operation& operation);
    // %tile, DMA : 0, at any depth
    static void collect_ports(const std::vector<Item>& items,
                              std::vector<std::pair<std::string, std::string>>& ports);
    // Buffers and locks of other tiles that a core's body names.
    void read_neighbours();
    static void collect(const std::vector<Item>& items, std::vector<std::string>& names);
    static std::vector<std::string> values_of(const Operation& operation);

    const Lowering& lowering_;
    std::vector<LogicalTile> tiles_;
    std::map<std::string, std::size_t> number_;
    std::map<std::string, program::TileCoordinate> physical_;
    std::set<program::TileCoordinate> taken_;
    std::map<program::TileCoordinate, Channels> used_;
    std::vector<std::vector<std::string>> fifos_;
    std::set<std::tuple<std::string, std::string, bool>> used_ports_;
};

}  // namespace tilesim::workloads::npu::mlir::object_fifo
