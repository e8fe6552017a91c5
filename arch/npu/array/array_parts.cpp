// What an array is made of: channels, cores, flows and links, from what the program uses.
#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/array/array.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/stream/router.hpp"
#include "arch/npu/stream/stream_switch.hpp"

namespace tilesim::arch::npu::array {

using base::Cycles;

namespace {

std::string_view class_of(program::TileKind kind) {
    switch (kind) {
        case program::TileKind::Shim:
            return "shim";
        case program::TileKind::Memory:
            return "memory_tile";
        case program::TileKind::Core:
            return "core";
    }
    return "";
}

PathPart stream_part(const program::ChannelId& id, program::TileKind kind) {
    return kind != program::TileKind::Shim            ? PathPart::Stream
           : id.direction == program::Direction::MM2S ? PathPart::ShimStreamIn
                                                      : PathPart::ShimStreamOut;
}

}  // namespace

base::stats::Group& Array::tile_group(program::TileCoordinate tile) {
    auto& group = tile_groups_[tile];
    if (!group) {
        group = std::make_unique<base::stats::Group>(
            group_, fmt::format("tile({},{})", tile.column, tile.row),
            class_of(config_.kind_of(tile)));
    }
    return *group;
}

dma::DescriptorTable& Array::table(program::TileCoordinate tile) {
    const std::int64_t descriptors = config_.dma_of(config_.kind_of(tile)).descriptors;
    return tables_.try_emplace(tile, descriptors).first->second;
}

std::set<program::ChannelId> Array::channels_used() const {
    std::set<program::ChannelId> used;
    for (const program::Route& route : program_.routes) {
        used.insert(route.source);
        used.insert(route.destinations.begin(), route.destinations.end());
    }
    std::erase_if(used,
                  [](const program::ChannelId& id) { return id.port == program::PortKind::Core; });
    for (const program::TileDma& dma : program_.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            used.insert({dma.tile, start.direction, start.channel});
        }
    }
    for (const program::SequenceOp& operation : program_.sequence) {
        if (const auto* push = std::get_if<program::PushTask>(&operation)) {
            used.insert(push->channel);
        } else if (const auto* wait = std::get_if<program::WaitIdle>(&operation)) {
            used.insert(wait->channel);
        } else if (const auto* reset = std::get_if<program::ResetChannel>(&operation)) {
            used.insert(reset->channel);
        }
    }
    return used;
}

void Array::build_channels(memory::port::BackingStore* store) {
    for (const program::ChannelId& id : channels_used()) {
        build_channel(id, store);
    }
    for (const program::TileDma& dma : program_.dmas) {
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            table(dma.tile).write(descriptor);
        }
    }
}

void Array::build_channel(const program::ChannelId& id, memory::port::BackingStore* store) {
    const program::TileKind kind = config_.kind_of(id.tile);
    const DmaConfig& dma = config_.dma_of(kind);
    const Cycles start = kind == program::TileKind::Shim
                             ? dma.descriptor_latency + config_.shim.task_start
                             : dma.descriptor_latency;
    const dma::DmaChannel::Timing timing{start,
                                         dma.boundary_bubble,
                                         dma.grant_to_stream,
                                         dma.task_queue_depth,
                                         config_.stream.words_per_cycle(),
                                         stream_part(id, kind)};
    const auto to_processor = [this](const program::ChannelId& channel, Cycles) {
        command_processor_.on_token(channel, channels_.at(channel)->critical_path());
        if (on_token) {
            on_token(channel);
        }
    };
    auto channel = std::make_unique<dma::DmaChannel>(id, timing, scheduler_, locks_, table(id.tile),
                                                     tile_group(id.tile), to_processor);
    channel->set_mover(make_mover(*channel, kind, store));
    channel->on_idle = [this](const program::ChannelId& idle) {
        command_processor_.on_status(idle, channels_.at(idle)->critical_path());
        tell_finished();
    };
    channel->on_task_taken = [this](const program::ChannelId& of) {
        command_processor_.on_status(of, channels_.at(of)->critical_path());
    };
    if (kind == program::TileKind::Shim && id.direction == program::Direction::S2MM) {
        writers_.push_back(channel.get());
    }
    channels_.emplace(id, std::move(channel));
}

std::unique_ptr<dma::Mover> Array::make_mover(dma::DmaChannel& channel, program::TileKind kind,
                                              memory::port::BackingStore* store) {
    const program::ChannelId& id = channel.id();
    const auto reads = [&](auto reader) -> std::unique_ptr<dma::Mover> {
        sources_[id] = reader.get();
        channel_flows_[id] = &reader->flows();
        return reader;
    };
    const auto writes = [&](auto writer) -> std::unique_ptr<dma::Mover> {
        sinks_[id] = &writer->sink();
        return writer;
    };
    const bool is_reader = id.direction == program::Direction::MM2S;
    if (kind == program::TileKind::Shim) {
        const dma::ShimContext shim{config_.shim,
                                    scheduler_,
                                    streams_,
                                    fabric_,
                                    static_cast<std::size_t>(id.tile.column),
                                    program_.external_buffers,
                                    store};
        return is_reader ? reads(std::make_unique<dma::ShimReader>(channel, shim))
                         : writes(std::make_unique<dma::ShimWriter>(channel, shim));
    }
    return is_reader
               ? reads(std::make_unique<dma::TileReader>(channel, memory_.get()))
               : writes(std::make_unique<dma::TileWriter>(channel, scheduler_, memory_.get()));
}

// One arbiter passes the packets of all switch outputs that share it; where a route does not say
// which one, each output has its own.
stream::StreamArbiter& Array::arbiter(program::TileCoordinate tile, const std::string& name) {
    const std::string path = fmt::format("tile({},{}).{}", tile.column, tile.row, name);
    auto& entry = arbiters_[path];
    if (!entry) {
        entry = std::make_unique<stream::StreamArbiter>(path);
    }
    return *entry;
}

// What a packet passes behind its sending port, in the order of its path, and the ports it comes in
// by; circuits pass no arbiter.
std::vector<std::pair<stream::StreamArbiter*, program::SwitchPort>> Array::arbiters_of(
    const program::Route& route) {
    std::vector<std::pair<stream::StreamArbiter*, program::SwitchPort>> arbiters;
    if (!route.packet_id) {
        return arbiters;
    }
    for (const program::Hop& hop : route.path) {
        stream::StreamArbiter& next = arbiter(
            hop.tile, hop.arbiter ? fmt::format("arbiter{}", *hop.arbiter) : name_of(hop.out));
        const bool passed = std::any_of(arbiters.begin(), arbiters.end(),
                                        [&next](const auto& each) { return each.first == &next; });
        if (!passed) {
            arbiters.emplace_back(&next, hop.in);
        }
    }
    return arbiters;
}

void Array::build_flows(bool functional) {
    for (const program::Route& route : program_.routes) {
        std::vector<stream::StreamFlow::Branch> branches;
        for (std::size_t i = 0; i < route.destinations.size(); ++i) {
            branches.push_back(
                {sinks_.at(route.destinations[i]),
                 streams_.ticks(config_.stream.hop_latency) * stream::hops(route, i),
                 config_.stream.sink_fifo, config_.stream.arbiter_fifo,
                 route.keep_header && !program::keeps_header(route, route.destinations[i])});
        }
        std::optional<std::uint32_t> header;
        if (route.packet_id) {
            header = static_cast<std::uint32_t>(*route.packet_id);
        }
        const auto passed = arbiters_of(route);
        std::vector<stream::StreamArbiter*> arbiters;
        for (const auto& entry : passed) {
            arbiters.push_back(entry.first);
        }
        flows_.push_back(std::make_unique<stream::StreamFlow>(
            route.name, streams_, *sources_.at(route.source), branches, arbiters, header,
            route.keep_header, functional));
        for (const auto& [each, port] : passed) {
            each->enters(*flows_.back(), port);
        }
        if (route.packet_id) {  // a packet waits until the one before has left the sender
            const auto port = stream::port_of(route.source, config_.kind_of(route.source.tile));
            flows_.back()->set_sending_port(arbiter(route.source.tile, "from_" + name_of(port)));
        }
        if (route.source.port == program::PortKind::Core) {
            core_outputs_.at(route.source)->add_flow(route.packet_id, *flows_.back());
        } else {
            channel_flows_.at(route.source)->add(route.packet_id, *flows_.back());
        }
    }
}

void Array::set_merges() {
    for (const program::Merge& merge : program_.merges) {
        arbiter(merge.tile, fmt::format("arbiter{}", merge.arbiter)).take_turns(merge.turns);
    }
}

// A lock is an input's when an arriving stream releases it, an output's when a leaving one does.
std::vector<core::CoreTile::LockRole> Array::lock_roles() const {
    std::vector<core::CoreTile::LockRole> roles(program_.locks.size(),
                                                core::CoreTile::LockRole::Other);
    for (const program::SequenceOp& operation : program_.sequence) {
        if (const auto* set = std::get_if<program::SetLock>(&operation)) {
            roles[static_cast<std::size_t>(set->lock)] = core::CoreTile::LockRole::Host;
        }
    }
    for (const program::TileDma& dma : program_.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            const auto role = start.direction == program::Direction::S2MM
                                  ? core::CoreTile::LockRole::Input
                                  : core::CoreTile::LockRole::Output;
            const auto chain = program::chain_from(start.task.descriptor, dma);
            for (const program::BufferDescriptor* descriptor : chain.descriptors) {
                if (descriptor->release) {
                    roles[static_cast<std::size_t>(descriptor->release->lock)] = role;
                }
            }
        }
    }
    return roles;
}

void Array::build_cores(const memory::port::BackingStore* store) {
    const auto roles = lock_roles();
    for (const program::CoreProgram& core : program_.cores) {
        cores_.push_back(std::make_unique<core::CoreTile>(
            core, program_, config_, kernel_timing_, roles, scheduler_, locks_,
            tile_group(core.tile), memory_.get(), store));
    }
}

void Array::register_core_ports() {
    for (const auto& core : cores_) {
        for (std::int64_t i = 0; i < config_.core.stream_inputs; ++i) {
            sinks_[{core->tile(), program::Direction::S2MM, i, program::PortKind::Core}] =
                &core->input(i).sink();
        }
        for (std::int64_t i = 0; i < config_.core.stream_outputs; ++i) {
            const program::ChannelId id{core->tile(), program::Direction::MM2S, i,
                                        program::PortKind::Core};
            core_outputs_[id] = &core->output(i);
            sources_[id] = &core->output(i);
        }
    }
}

void Array::build_cascades() {
    for (const program::Cascade& cascade : program_.cascades) {
        cascades_.push_back(
            std::make_unique<core::CascadeLink>(cascade, config_.cascade, scheduler_));
    }
    for (const auto& core : cores_) {
        const auto link = [&](auto end) -> core::CascadeLink* {
            const auto place = std::find_if(
                cascades_.begin(), cascades_.end(),
                [&](const auto& each) { return each->cascade().*end == core->tile(); });
            return place == cascades_.end() ? nullptr : place->get();
        };
        core->connect_cascades(link(&program::Cascade::to), link(&program::Cascade::from));
    }
}

std::vector<base::Block> Array::blocks() const {
    std::vector<base::Block> blocks{{"npu", "npu"}};
    for (std::int64_t column = 0; column < config_.columns; ++column) {
        for (std::int64_t row = 0; row < config_.rows(); ++row) {
            const program::TileKind kind = config_.kind_of({column, row});
            const std::string tile = fmt::format("npu.tile({},{})", column, row);
            blocks.push_back({tile, std::string{class_of(kind)}});
            blocks.push_back({tile + ".stream_switch", "stream_switch"});
            if (kind == program::TileKind::Shim && !config_.has_shim_dma(column)) {
                continue;
            }
            blocks.push_back({tile + ".locks", "lock_unit"});
            for (const std::string_view direction : {"s2mm", "mm2s"}) {
                for (std::int64_t i = 0; i < config_.dma_of(kind).channels; ++i) {
                    blocks.push_back({fmt::format("{}.{}{}", tile, direction, i), "dma_channel"});
                }
            }
            if (kind == program::TileKind::Core) {
                blocks.push_back({tile + ".core", "core"});
            }
        }
    }
    return blocks;
}

}  // namespace tilesim::arch::npu::array
