#include "arch/npu/stream/stream_switch.hpp"

#include <algorithm>
#include <array>

namespace tilesim::arch::npu::stream {

namespace {

struct PortCounts {
    Bundle bundle;
    // Slaves and masters of core, memory and shim tile.
    std::array<std::int64_t, 2> core, memory, shim;
};

// clang-format off
constexpr std::array<PortCounts, 7> kPortCounts{{
    {Bundle::Control, {1, 1}, {1, 1}, {1, 1}},
    {Bundle::Fifo,    {1, 1}, {0, 0}, {1, 1}},
    {Bundle::South,   {6, 4}, {6, 4}, {8, 6}},
    {Bundle::West,    {4, 4}, {0, 0}, {4, 4}},
    {Bundle::North,   {4, 6}, {4, 6}, {4, 6}},
    {Bundle::East,    {4, 4}, {0, 0}, {4, 4}},
    {Bundle::Trace,   {2, 0}, {1, 0}, {1, 0}},
}};
// clang-format on

// A shim's MM2S 0 and 1 enter on South 3 and 7, its S2MM 0 and 1 leave by South 2 and 3.
SwitchPort shim_port(program::Direction direction, std::int64_t channel) {
    const bool enters = direction == program::Direction::MM2S;
    return {Bundle::South, enters ? 3 + 4 * channel : 2 + channel};
}

bool from_trace(program::TileKind kind, SwitchPort slave, SwitchPort master) {
    const bool down = master.bundle == Bundle::South || master.bundle == Bundle::Fifo;
    const std::int64_t dma = kind == program::TileKind::Memory ? 5 : 0;
    const bool sideways = master.bundle == Bundle::East || master.bundle == Bundle::West;
    return down || (master.bundle == Bundle::Dma && master.index == dma) ||
           (kind == program::TileKind::Shim && sideways && master.index == 0 && slave.index == 0);
}

}  // namespace

std::int64_t ports_of(const NpuConfig& config, program::TileKind kind, Bundle bundle,
                      PortSide side) {
    if (bundle == Bundle::Core) {
        const bool slave = side == PortSide::Slave;
        const std::int64_t count = slave ? config.core.stream_outputs : config.core.stream_inputs;
        return kind == program::TileKind::Core ? count : 0;
    }
    if (bundle == Bundle::Dma) {
        return kind == program::TileKind::Shim ? 0 : config.dma_of(kind).channels;
    }
    const auto& counts =
        *std::find_if(kPortCounts.begin(), kPortCounts.end(),
                      [bundle](const PortCounts& each) { return each.bundle == bundle; });
    const auto& sides = kind == program::TileKind::Core     ? counts.core
                        : kind == program::TileKind::Memory ? counts.memory
                                                            : counts.shim;
    const std::int64_t count = sides[static_cast<std::size_t>(side)];
    if (kind != program::TileKind::Shim || bundle != Bundle::South) {
        return count;
    }
    // A device with more channels has the ports for them.
    const auto direction =
        side == PortSide::Slave ? program::Direction::MM2S : program::Direction::S2MM;
    return std::max(count, 1 + shim_port(direction, config.shim_dma.channels - 1).index);
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

SwitchPort port_of(const program::ChannelId& channel, program::TileKind kind) {
    if (channel.port == program::PortKind::Core) {
        return {Bundle::Core, channel.index};
    }
    return kind == program::TileKind::Shim ? shim_port(channel.direction, channel.index)
                                           : SwitchPort{Bundle::Dma, channel.index};
}

program::TileCoordinate neighbour(program::TileCoordinate tile, Heading heading) {
    switch (heading) {
        case Heading::North:
            return {tile.column, tile.row + 1};
        case Heading::South:
            return {tile.column, tile.row - 1};
        case Heading::East:
            return {tile.column + 1, tile.row};
        case Heading::West:
            return {tile.column - 1, tile.row};
    }
    return tile;
}

Heading opposite(Heading heading) {
    switch (heading) {
        case Heading::North:
            return Heading::South;
        case Heading::South:
            return Heading::North;
        case Heading::East:
            return Heading::West;
        case Heading::West:
            return Heading::East;
    }
    return heading;
}

std::optional<TilePort> wire_from(const TilePort& master) {
    const auto enters = [&master](Heading heading, Bundle by) {
        return TilePort{neighbour(master.tile, heading), {by, master.port.index}};
    };
    switch (master.port.bundle) {
        case Bundle::North:
            return enters(Heading::North, Bundle::South);
        case Bundle::South:
            return enters(Heading::South, Bundle::North);
        case Bundle::East:
            return enters(Heading::East, Bundle::West);
        case Bundle::West:
            return enters(Heading::West, Bundle::East);
        default:
            return std::nullopt;
    }
}

}  // namespace tilesim::arch::npu::stream
