#include "arch/npu/stream/switch_port.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tilesim::arch::npu::stream {

namespace {

struct BundlePorts {
    Bundle bundle;
    std::string_view name;
    // Slaves and masters of core, memory and shim tile.
    std::array<std::int64_t, 2> core, memory, shim;
};

// clang-format off
constexpr std::array<BundlePorts, 9> kBundles{{
    {Bundle::Core,    "core",  {0, 0}, {0, 0}, {0, 0}},
    {Bundle::Dma,     "dma",   {0, 0}, {0, 0}, {0, 0}},  // as many as the device has channels
    {Bundle::Control, "ctrl",  {1, 1}, {1, 1}, {1, 1}},
    {Bundle::Fifo,    "fifo",  {1, 1}, {0, 0}, {1, 1}},
    {Bundle::South,   "south", {6, 4}, {6, 4}, {8, 6}},
    {Bundle::West,    "west",  {4, 4}, {0, 0}, {4, 4}},
    {Bundle::North,   "north", {4, 6}, {4, 6}, {4, 6}},
    {Bundle::East,    "east",  {4, 4}, {0, 0}, {4, 4}},
    {Bundle::Trace,   "trace", {2, 0}, {1, 0}, {1, 0}},
}};
// clang-format on

const BundlePorts& entry(Bundle bundle) {
    return kBundles[static_cast<std::size_t>(bundle)];
}

bool from_trace(program::TileKind kind, SwitchPort slave, SwitchPort master) {
    const bool down = master.bundle == Bundle::South || master.bundle == Bundle::Fifo;
    const std::int64_t dma = kind == program::TileKind::Memory ? 5 : 0;
    const bool sideways = master.bundle == Bundle::East || master.bundle == Bundle::West;
    return down || (master.bundle == Bundle::Dma && master.index == dma) ||
           (kind == program::TileKind::Shim && sideways && master.index == 0 && slave.index == 0);
}

}  // namespace

std::optional<SwitchPort> parse_port(std::string_view text) {
    for (const BundlePorts& bundle : kBundles) {
        if (!text.starts_with(bundle.name) || text.size() == bundle.name.size()) {
            continue;
        }
        SwitchPort port{bundle.bundle, 0};
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data() + bundle.name.size(), end, port.index);
        if (parsed.ec == std::errc{} && parsed.ptr == end && port.index >= 0) {
            return port;
        }
    }
    return std::nullopt;
}

std::string name_of(SwitchPort port) {
    return fmt::format("{}{}", entry(port.bundle).name, port.index);
}

std::int64_t ports_of(const NpuConfig& config, program::TileKind kind, Bundle bundle, PortSide side) {
    if (kind == program::TileKind::Core && bundle == Bundle::Core) {
        return side == PortSide::Slave ? config.core.stream_outputs : config.core.stream_inputs;
    }
    if (kind != program::TileKind::Shim && bundle == Bundle::Dma) {
        return config.dma_of(kind).channels;
    }
    const BundlePorts& ports = entry(bundle);
    const auto& counts = kind == program::TileKind::Core     ? ports.core
                         : kind == program::TileKind::Memory ? ports.memory
                                                    : ports.shim;
    return counts[static_cast<std::size_t>(side)];
}

bool can_cross(program::TileKind kind, SwitchPort slave, SwitchPort master) {
    if (slave.bundle == Bundle::Trace) {
        return from_trace(kind, slave, master);
    }
    if (slave.bundle == Bundle::Core && master.bundle == Bundle::Core) {
        return false;
    }
    if (slave.bundle == master.bundle) {
        return slave.index == master.index;
    }
    if (kind != program::TileKind::Memory) {
        return true;
    }
    const auto vertical = [](SwitchPort port) {
        return port.bundle == Bundle::North || port.bundle == Bundle::South;
    };
    if (vertical(slave) && vertical(master)) {
        return slave.index == master.index;
    }
    return slave.bundle != Bundle::Control || master.bundle != Bundle::Dma || master.index == 5;
}

}  // namespace tilesim::arch::npu::stream
