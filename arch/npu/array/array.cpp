#include "arch/npu/array/array.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/program/program_fault.hpp"
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

}  // namespace

Array::Array(const NpuConfig& config, const fabric::FabricConfig& fabric,
             const program::Program& program, memory::controller::MemorySystem& memory,
             base::EventQueue& queue, base::stats::Group& parent, memory::port::BackingStore* store)
    : config_(config),
      program_(program),
      scheduler_(queue, base::Clock{config.clock}),
      group_(parent, "npu"),
      locks_(program.locks, config.lock_kind),
      kernel_timing_(config.kernels),
      fabric_(fabric, static_cast<std::size_t>(config.columns), base::Clock{config.clock},
              config.shim.port_width, memory, queue),
      memory_(store != nullptr ? std::make_unique<tile::TileMemory>(config, program) : nullptr),
      store_(store),
      command_processor_(config.command_processor, program, *this, scheduler_, group_) {
    build_channels(store);
    build_cores(store);
    register_core_ports();
    build_flows(store != nullptr);
    build_cascades();
}

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
        }
    }
    return used;
}

void Array::build_channels(memory::port::BackingStore* store) {
    const auto on_token = [this](const program::ChannelId& channel, Cycles) {
        command_processor_.on_token(channel);
    };
    for (const program::ChannelId& id : channels_used()) {
        const program::TileKind kind = config_.kind_of(id.tile);
        const DmaConfig& dma = config_.dma_of(kind);
        const Cycles start = kind == program::TileKind::Shim
                                 ? dma.descriptor_latency + config_.shim.task_start
                                 : dma.descriptor_latency;
        const dma::DmaChannel::Timing timing{start, dma.boundary_bubble, dma.grant_to_stream,
                                             dma.task_queue_depth};
        auto channel = std::make_unique<dma::DmaChannel>(
            id, timing, scheduler_, locks_, table(id.tile), tile_group(id.tile), on_token);
        const dma::ShimContext shim{config_.shim,
                                    scheduler_,
                                    fabric_,
                                    static_cast<std::size_t>(id.tile.column),
                                    program_.external_buffers,
                                    store};
        std::unique_ptr<dma::Mover> mover;
        if (id.direction == program::Direction::MM2S && kind == program::TileKind::Shim) {
            auto reader = std::make_unique<dma::ShimReader>(*channel, shim);
            sources_[id] = reader.get();
            mover = std::move(reader);
        } else if (id.direction == program::Direction::MM2S) {
            auto reader = std::make_unique<dma::TileReader>(*channel, memory_.get());
            sources_[id] = reader.get();
            mover = std::move(reader);
        } else if (kind == program::TileKind::Shim) {
            auto writer = std::make_unique<dma::ShimWriter>(*channel, shim);
            sinks_[id] = &writer->sink();
            mover = std::move(writer);
        } else {
            auto writer = std::make_unique<dma::TileWriter>(*channel, scheduler_, memory_.get());
            sinks_[id] = &writer->sink();
            mover = std::move(writer);
        }
        channel->set_mover(std::move(mover));
        channel->on_idle = [this](const program::ChannelId& idle) {
            command_processor_.on_idle(idle);
        };
        channels_.emplace(id, std::move(channel));
    }
    for (const program::TileDma& dma : program_.dmas) {
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            table(dma.tile).write(descriptor);
        }
    }
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

void Array::build_flows(bool functional) {
    for (const program::Route& route : program_.routes) {
        std::vector<stream::StreamFlow::Branch> branches;
        for (std::size_t i = 0; i < route.destinations.size(); ++i) {
            branches.push_back({sinks_.at(route.destinations[i]),
                                config_.stream.hop_latency * stream::hops(route, i),
                                config_.stream.sink_fifo, config_.stream.arbiter_fifo});
        }
        std::vector<stream::StreamArbiter*> arbiters;
        std::optional<std::uint32_t> header;
        if (route.packet_id) {
            header = static_cast<std::uint32_t>(*route.packet_id);
            // The sending port is one itself: a packet waits until the one before has passed.
            const std::string sender =
                stream::dma_port(route.source, config_.kind_of(route.source.tile));
            arbiters.push_back(&arbiter(route.source.tile, "from_" + sender));
            for (const program::Hop& hop : route.path) {
                stream::StreamArbiter& next = arbiter(
                    hop.tile, hop.arbiter ? fmt::format("arbiter{}", *hop.arbiter) : hop.out);
                if (std::find(arbiters.begin(), arbiters.end(), &next) == arbiters.end()) {
                    arbiters.push_back(&next);
                }
            }
        }
        flows_.push_back(std::make_unique<stream::StreamFlow>(
            route.name, scheduler_, *sources_.at(route.source), branches, std::move(arbiters),
            header, route.keep_header, functional));
        const std::int64_t packet_id = route.packet_id.value_or(-1);
        if (auto* shim = dynamic_cast<dma::ShimReader*>(sources_.at(route.source))) {
            shim->add_flow(packet_id, *flows_.back());
        } else if (auto* tile = dynamic_cast<dma::TileReader*>(sources_.at(route.source))) {
            tile->add_flow(packet_id, *flows_.back());
        } else if (auto* core = dynamic_cast<core::CoreOutput*>(sources_.at(route.source))) {
            core->set_flow(*flows_.back());
        }
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
            sources_[{core->tile(), program::Direction::MM2S, i, program::PortKind::Core}] =
                &core->output(i);
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

void Array::connect(base::ProbeListener* listener) {
    for (const auto& [id, channel] : channels_) {
        channel->connect(listener);
    }
    for (const auto& core : cores_) {
        core->connect(listener);
    }
    command_processor_.connect(listener);
    fabric_.connect(listener);
}

void Array::start() {
    for (const program::TileDma& dma : program_.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            channels_.at({dma.tile, start.direction, start.channel})->push(start.task);
        }
    }
    for (const auto& core : cores_) {
        core->start();
    }
    command_processor_.start();
}

bool Array::finished() const {
    return command_processor_.done() &&
           std::all_of(channels_.begin(), channels_.end(), [this](const auto& entry) {
               return config_.kind_of(entry.first.tile) != program::TileKind::Shim ||
                      entry.second->idle();
           });
}

std::vector<std::string> Array::busy_shim_channels() const {
    std::vector<std::string> busy;
    for (const auto& [id, channel] : channels_) {
        if (config_.kind_of(id.tile) == program::TileKind::Shim && !channel->idle()) {
            busy.push_back(channel->name());
        }
    }
    return busy;
}

Cycles Array::last_progress() const {
    Cycles last = command_processor_.last_progress();
    for (const auto& [id, channel] : channels_) {
        last = std::max(last, channel->last_progress());
    }
    return last;
}

bool Array::livelocked() const {
    // A core that spins has one event pending; a component without any moves only when another
    // gives it something.
    const auto spinning =
        std::count_if(cores_.begin(), cores_.end(), [](const auto& core) { return core->spins(); });
    return static_cast<std::size_t>(spinning) == scheduler_.pending() && !finished();
}

void Array::finish_statistics() {
    finish_cycle_ = scheduler_.next_edge();
    command_processor_.finish_statistics(finish_cycle_);
    for (const auto& [id, channel] : channels_) {
        channel->finish_statistics(finish_cycle_);
    }
    for (const auto& core : cores_) {
        core->finish_statistics(finish_cycle_);
    }
}

void Array::write_descriptor(const program::WriteDescriptor& operation) {
    table(operation.tile).write(operation.descriptor);
}

void Array::push_task(const program::PushTask& operation) {
    channels_.at(operation.channel)->push(operation.task);
}

void Array::write_parameter(const program::WriteParameter& operation) {
    for (const auto& core : cores_) {
        if (core->tile() == operation.tile) {
            core->write_parameter(operation.index, operation.value);
        }
    }
}

void Array::set_lock(const program::SetLock& operation) {
    locks_.set(operation.lock, operation.value, scheduler_.now());
}

bool Array::acquire_lock(const program::LockAction& action, tile::LockClient& client) {
    return locks_.acquire(action, client);
}

void Array::copy(const program::CopyToTile& operation) {
    const std::int64_t from =
        program_.external_buffers[static_cast<std::size_t>(operation.from)].address +
        operation.offset;
    const std::int64_t burst = config_.shim.burst.count();
    for (std::int64_t done = 0; done < operation.bytes; done += burst) {
        fabric_.submit({from + done, std::min(burst, operation.bytes - done), false, 0,
                        base::Femtoseconds{0}, &host_reads_, 0});
    }
    if (memory_ != nullptr) {
        store_->read(
            from, memory_->buffer(operation.to).first(static_cast<std::size_t>(operation.bytes)));
    }
}

bool Array::idle(const program::ChannelId& channel) const {
    return channels_.at(channel)->idle();
}

}  // namespace tilesim::arch::npu::array
