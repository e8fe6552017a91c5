// The ports of a stream switch and the ways through it.
//
// A port is named by its bundle and index: "north3" as a slave is where words from the north enter,
// as a master where words leave to the north.
// Source: Xilinx aie-rt xaie_ss_aieml.c, mlir-aie AIETargetModel (isLegalTileConnection); the same
// on AIE-ML and AIE2P.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::stream {

enum class Bundle { Core, Dma, Control, Fifo, South, West, North, East, Trace };
enum class PortSide { Slave, Master };  // into the switch, out of it

struct SwitchPort {
    Bundle bundle = Bundle::Dma;
    std::int64_t index = 0;
    auto operator<=>(const SwitchPort&) const = default;
};

// "south3"; nothing when the text names no port.
std::optional<SwitchPort> parse_port(std::string_view text);
std::string name_of(SwitchPort port);

// Ports of a bundle a tile's switch has; how many the core itself and the DMA have is the device's.
std::int64_t ports_of(const NpuConfig& config, program::TileKind kind, Bundle bundle,
                      PortSide side);
// Whether the switch can connect the two. A shim's DMA channels are behind its South ports.
bool can_cross(program::TileKind kind, SwitchPort slave, SwitchPort master);

}  // namespace tilesim::arch::npu::stream
