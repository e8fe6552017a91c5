#include "arch/npu/stream/stream_switch.hpp"

#include <fmt/format.h>

#include <array>

namespace tilesim::arch::npu::stream {

std::int64_t streams_towards(program::TileKind kind, Heading heading) {
    constexpr std::int64_t kNorthbound = 6;
    constexpr std::int64_t kOther = 4;
    if (heading == Heading::North) {
        return kNorthbound;
    }
    const bool sideways = heading == Heading::East || heading == Heading::West;
    return sideways && kind == program::TileKind::Memory ? 0 : kOther;
}

bool keeps_index(program::TileKind kind) {
    return kind == program::TileKind::Memory;
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

const char* name_of(Heading heading) {
    switch (heading) {
        case Heading::North:
            return "north";
        case Heading::South:
            return "south";
        case Heading::East:
            return "east";
        case Heading::West:
            return "west";
    }
    return "";
}

std::string dma_port(const program::ChannelId& channel, program::TileKind kind) {
    if (channel.port == program::PortKind::Core) {
        return fmt::format("core{}", channel.index);
    }
    if (kind != program::TileKind::Shim) {
        return fmt::format("dma{}", channel.index);
    }
    // MM2S 0/1 enter on South 3/7, S2MM 0/1 leave by South 2/3. A shim with more channels has them
    // on the other ports of the multiplexer.
    constexpr std::array<std::int64_t, 8> kEntered{3, 7, 2, 6, 1, 5, 0, 4};
    constexpr std::array<std::int64_t, 6> kLeft{2, 3, 4, 5, 0, 1};
    const auto index = static_cast<std::size_t>(channel.index);
    const std::int64_t port = channel.direction == program::Direction::MM2S
                                  ? kEntered[index % kEntered.size()]
                                  : kLeft[index % kLeft.size()];
    return fmt::format("south{}", port);
}

}  // namespace tilesim::arch::npu::stream
