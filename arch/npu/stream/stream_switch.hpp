// The stream switch of a tile: its ports, the ways through it and the wires to its neighbours.
//
// Source: Xilinx aie-rt xaie_ss_aieml.c, mlir-aie AIETargetModel (isLegalTileConnection); the same
// on AIE-ML and AIE2P.
#pragma once

#include <cstdint>
#include <optional>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/program/switch_port.hpp"

namespace tilesim::arch::npu::stream {

using program::Bundle;
using program::SwitchPort;

enum class PortSide { Slave, Master };  // into the switch, out of it

struct TilePort {
    program::TileCoordinate tile;
    SwitchPort port;
    auto operator<=>(const TilePort&) const = default;
};

// Ports of a bundle a tile's switch has; how many the core itself and the DMA have is the device's.
std::int64_t ports_of(const NpuConfig& config, program::TileKind kind, Bundle bundle,
                      PortSide side);
// Whether the switch can connect the two.
bool can_cross(program::TileKind kind, SwitchPort slave, SwitchPort master);
// The port a tile's DMA channel or a core's own stream hangs on. A shim's channels are behind its
// South ports.
SwitchPort port_of(const program::ChannelId& channel, program::TileKind kind);

enum class Heading { North, South, East, West };
program::TileCoordinate neighbour(program::TileCoordinate tile, Heading heading);
Heading opposite(Heading heading);
// The neighbour's slave port that words enter when they leave by a master port; nothing for ports
// that do not lead to a neighbour. Whether the array has that tile is not asked.
std::optional<TilePort> wire_from(const TilePort& master);

}  // namespace tilesim::arch::npu::stream
