// Streams a design states end to end: what the router has to make, or the switchboxes contain.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

// A port of a tile's switch as designs name it.
struct Port {
    std::string bundle;  // "dma", "north", "south", "east", "west", "core", "tilecontrol", ...
    std::int64_t index = 0;
    // Nothing for ports that lead out of the array's streams.
    std::optional<program::SwitchPort> of_switch() const {
        return program::parse_port(fmt::format("{}{}", bundle, index));
    }
    auto operator<=>(const Port&) const = default;
};
using TilePort = std::pair<program::TileCoordinate, Port>;

// DMA : 0. Throws ReadError.
Port read_port(Cursor& cursor);
// A tile's control port: what packets write registers through.
bool is_control_port(const TilePort& port);
// The DMA channel behind a port; a core's own stream port is one, too.
std::optional<program::ChannelId> channel_at(const NpuConfig& config, const TilePort& port,
                                             program::Direction direction);

// The ports of cores' own streams that scripts put on and get from.
std::set<program::ChannelId> ports_in_use(const program::Program& program);
// The packet ids the descriptors of each tile send.
std::map<program::TileCoordinate, std::set<std::int64_t>> packet_ids_sent(
    const program::Program& program);

struct Flow {
    program::ChannelId source;
    std::vector<program::ChannelId> destinations;
    std::optional<std::int64_t> packet_id;
    bool keep_header = false;
    Location where;
    // Of a flow that keeps headers: receivers whose port drops them.
    std::vector<program::ChannelId> without_header = {};
};

struct Flows {
    std::vector<Flow> flows;
    // aie.flow between ports that are no channels, as where a shim's switchbox is written out and
    // the rest of the way is not: a wire from one port to the others.
    std::map<TilePort, std::vector<TilePort>> wires;
};

// aie.flow, aie.packet_flow, and the broadcasts aiex.multicast and aiex.broadcast_packet.
Flows read_flows(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::routes
