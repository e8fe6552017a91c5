#include "arch/npu/control/configuration_writes.hpp"

#include <set>
#include <utility>

namespace tilesim::arch::npu::control {

namespace {

using program::TileCoordinate;

// A core stands still and is reset, its DMA's channels too, its locks are set to 0, its program is
// written; then it may go.
std::int64_t of_core(const NpuConfig& config) {
    constexpr std::int64_t kDisable = 1, kReset = 2, kProgram = 1, kEnable = 1;
    constexpr std::int64_t kDirections = 2;
    return kDisable + kReset + kReset * kDirections * config.core_dma.channels + config.core.locks +
           kProgram + kEnable;
}

// Of a tile's descriptors, and of the queue and the switch of each channel that is started.
std::int64_t of_dma(const program::TileDma& dma) {
    constexpr std::int64_t kQueueAndEnable = 2;
    return std::ssize(dma.descriptors) + kQueueAndEnable * std::ssize(dma.starts);
}

// The switches on the ways of all streams.
std::int64_t of_switches(const program::Program& program) {
    constexpr std::int64_t kInAndOut = 2;                             // of a circuit
    constexpr std::int64_t kEnableAndRule = 2;                        // of a packet's way in
    std::set<std::pair<TileCoordinate, program::SwitchPort>> shared;  // ways out of packets
    std::int64_t writes = 0;
    for (const program::Route& route : program.routes) {
        for (const program::Hop& hop : route.path) {
            if (route.packet_id) {
                shared.emplace(hop.tile, hop.out);
            }
            writes += route.packet_id ? kEnableAndRule : kInAndOut;
        }
    }
    return writes + std::ssize(shared);
}

// Channels of shim DMAs that streams are switched to.
std::int64_t of_shim_channels(const program::Program& program, const NpuConfig& config) {
    std::set<program::ChannelId> channels;
    const auto add = [&](const program::ChannelId& end) {
        if (config.kind_of(end.tile) == program::TileKind::Shim) {
            channels.insert(end);
        }
    };
    for (const program::Route& route : program.routes) {
        add(route.source);
        for (const program::ChannelId& destination : route.destinations) {
            add(destination);
        }
    }
    return std::ssize(channels);
}

// One a turn, as aie-rt writes half a register at a time, and the one that enables them.
std::int64_t of_merges(const program::Program& program) {
    constexpr std::int64_t kEnable = 1;
    std::int64_t writes = 0;
    for (const program::Merge& merge : program.merges) {
        writes += std::ssize(merge.turns) + kEnable;
    }
    return writes;
}

std::int64_t of_cascades(const program::Program& program) {
    std::set<TileCoordinate> tiles;
    for (const program::Cascade& cascade : program.cascades) {
        tiles.insert({cascade.from, cascade.to});
    }
    return std::ssize(tiles);
}

}  // namespace

std::int64_t configuration_writes(const program::Program& program, const NpuConfig& config) {
    std::int64_t writes = std::ssize(program.cores) * of_core(config) + std::ssize(program.locks) +
                          of_switches(program) + of_merges(program) +
                          of_shim_channels(program, config) + of_cascades(program);
    for (const program::TileDma& dma : program.dmas) {
        writes += of_dma(dma);
    }
    return writes;
}

}  // namespace tilesim::arch::npu::control
