// The stream switches and shim multiplexers that a configuration's register writes set, as the
// operations that say the same.
//
// Source: AMD AM025 and AM029: Stream_Switch_{Master_Config, Slave_Config, Slave_Slot,
//         Deterministic_Merge_*}, Mux_Config, Demux_Config.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tilesim::workloads::npu::binary {

inline constexpr std::int64_t kWordStep = 4;  // from one register's address to the next's

// Registers of one tile by their offset, as last written.
using TileRegisters = std::map<std::int64_t, std::uint32_t>;

enum class SwitchKind { Core, Memory, Shim };

// aie.switchbox and aie.shim_mux of tile %name; empty where nothing is connected.
std::string switches_of(SwitchKind kind, const std::string& name, const TileRegisters& registers);

}  // namespace tilesim::workloads::npu::binary
