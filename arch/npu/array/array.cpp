#include "arch/npu/array/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tilesim::arch::npu::array {

using base::Cycles;

Array::Array(const NpuConfig& config, const fabric::FabricConfig& fabric,
             const program::Program& program, memory::port::MemoryPort& memory,
             base::EventQueue& queue, base::stats::Group& parent, memory::port::BackingStore* store,
             std::string_view name)
    : config_(config),
      program_(program),
      scheduler_(queue, base::Clock{config.clock}),
      streams_(queue, base::Clock{config.clock * config.stream.words_per_cycle()},
               config.stream.words_per_cycle()),
      group_(parent, name),
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
    set_merges();
    build_cascades();
    command_processor_.on_done = [this] { tell_finished(); };
}

void Array::tell_finished() {
    if (on_finished && !told_finished_ && finished()) {
        told_finished_ = true;
        on_finished();
    }
}

std::int64_t Array::working_calls() const {
    return std::accumulate(
        cores_.begin(), cores_.end(), std::int64_t{0},
        [](std::int64_t sum, const auto& core) { return sum + core->working_calls(); });
}

std::int64_t Array::words_written() const {
    return std::accumulate(
        writers_.begin(), writers_.end(), std::int64_t{0},
        [](std::int64_t sum, const auto* channel) { return sum + channel->words_done(); });
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
    lock_probe_.connect(listener);
    locks_.listen(listener != nullptr ? this : nullptr);
}

const CriticalPath& Array::critical_path() const {
    const CriticalPath* last = &command_processor_.path();
    const auto compare = [&last](const CriticalPath& path) {
        last = path.until() > last->until() ? &path : last;
    };
    for (const auto& [id, channel] : channels_) {
        compare(channel->path());
    }
    for (const auto& core : cores_) {
        compare(core->path());
    }
    return *last;
}

Array::Use Array::busiest_shim(program::Direction direction) const {
    Use most;
    for (const auto& [id, channel] : channels_) {
        if (config_.kind_of(id.tile) == program::TileKind::Shim && id.direction == direction &&
            channel->first_task()) {
            const Use use{*channel->first_task(), channel->streaming()};
            most = use.end() > most.end() ? use : most;
        }
    }
    return most;
}

Cycles Array::first_task() const {
    std::optional<Cycles> first;
    for (const auto& [id, channel] : channels_) {
        if (config_.kind_of(id.tile) == program::TileKind::Shim && channel->first_task()) {
            first = std::min(first.value_or(*channel->first_task()), *channel->first_task());
        }
    }
    return first.value_or(Cycles{0});
}

void Array::start(base::Femtoseconds dispatch) {
    const Cycles now = scheduler_.next_edge();
    command_processor_.critical_path()->begin(now);
    for (const auto& [id, channel] : channels_) {
        channel->critical_path()->begin(now);
    }
    for (const auto& core : cores_) {
        core->begin_path(now);
    }
    for (const program::TileDma& dma : program_.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            channels_.at({dma.tile, start.direction, start.channel})->push(start.task);
        }
    }
    for (const auto& core : cores_) {
        core->start();
    }
    command_processor_.start(dispatch);
}

void Array::tell_lock(std::int64_t number, std::string_view what) {
    const program::Lock& lock = program_.locks[static_cast<std::size_t>(number)];
    const std::string component = fmt::format("{}.tile({},{}).lock{}.{}", group_.path(),
                                              lock.tile.column, lock.tile.row, lock.id, what);
    const Cycles now = scheduler_.next_edge();
    Cycles& free = lock_told_[component];  // two at once are seen as one
    if (now < free) {
        return;
    }
    free = now + Cycles{1};
    lock_probe_.begin(component, what, scheduler_.clock().time_of(now));
    lock_probe_.end(component, what, scheduler_.clock().time_of(now + Cycles{1}));
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

const dma::DmaChannel* Array::find_channel(const program::ChannelId& id) const {
    const auto found = channels_.find(id);
    return found == channels_.end() ? nullptr : found->second.get();
}

const program::BufferDescriptor* Array::find_descriptor(program::TileCoordinate tile,
                                                        std::int64_t id) {
    const auto* entry = table(tile).find(id);
    return entry == nullptr ? nullptr : &entry->descriptor;
}

std::int64_t Array::most_queued(program::TileKind kind) const {
    std::int64_t most = 0;
    for (const auto& [id, channel] : channels_) {
        most = config_.kind_of(id.tile) == kind ? std::max(most, channel->most_queued()) : most;
    }
    return most;
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
    channels_.at(operation.channel)->push(operation.task, command_processor_.critical_path());
}

void Array::write_parameter(const program::WriteParameter& operation) {
    for (const auto& core : cores_) {
        if (core->tile() == operation.tile) {
            core->write_parameter(operation.index, operation.value);
        }
    }
}

void Array::set_lock(const program::SetLock& operation) {
    locks_.set(operation.lock, operation.value, scheduler_.now(),
               command_processor_.critical_path());
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
        fabric_.submit(
            {from + done, std::min(burst, operation.bytes - done), false, 0, &host_reads_, 0});
    }
    if (memory_ != nullptr) {
        store_->read(
            from, memory_->buffer(operation.to).first(static_cast<std::size_t>(operation.bytes)));
    }
}

void Array::reset_channel(const program::ResetChannel& operation) {
    channels_.at(operation.channel)->reset();
}

void Array::reset_core(const program::ResetCore& operation) {
    for (const auto& core : cores_) {
        if (core->tile() == operation.tile) {
            core->reset();
        }
    }
}

bool Array::idle(const program::ChannelId& channel) const {
    return channels_.at(channel)->idle();
}

std::int64_t Array::queued(const program::ChannelId& channel) const {
    return channels_.at(channel)->queued();
}

}  // namespace tilesim::arch::npu::array
