#include "arch/npu/dma/dma_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::dma {

using base::Cycles;

namespace {

constexpr std::uint64_t kFetched = 0;
constexpr std::uint64_t kGranted = 1;

// The next execution uses what `alternate` says now, the one after it what the descriptor did.
void swap_halves(program::BufferDescriptor& descriptor) {
    std::swap(descriptor.buffer, descriptor.alternate->buffer);
    std::swap(descriptor.offset, descriptor.alternate->offset);
    std::swap(descriptor.acquire, descriptor.alternate->acquire);
    std::swap(descriptor.release, descriptor.alternate->release);
}

}  // namespace

DmaStats::DmaStats(Group& tile, std::string_view name)
    : Group(tile, name, fmt::format("{}_{}", tile.component_class(), name)),
      time(*this, "time", base::stats::Unit::Cycle, kChannelStates) {}

DmaChannel::DmaChannel(const program::ChannelId& id, const Timing& timing,
                       CycleScheduler& scheduler, tile::LockUnit& locks, DescriptorTable& table,
                       base::stats::Group& parent, TokenSink on_token)
    : id_(id),
      timing_(timing),
      scheduler_(scheduler),
      locks_(locks),
      table_(table),
      on_token_(std::move(on_token)),
      stats_(parent, fmt::format("{}{}", id.direction == program::Direction::S2MM ? "s2mm" : "mm2s",
                                 id.index)) {}

const program::BufferDescriptor* DmaChannel::descriptor() const {
    return entry_ != nullptr ? &entry_->descriptor : nullptr;
}

void DmaChannel::enter(ChannelState state, Cycles now) {
    if (probe_) {
        probe_.end(name(), kChannelStates[this->state()].name, scheduler_.queue().now());
        probe_.begin(name(), kChannelStates[state].name, scheduler_.queue().now());
    }
    stats_.time.enter(state, now.count());
}

void DmaChannel::tell(std::string_view unit, std::string_view event, Cycles from,
                      Cycles end) const {
    if (probe_) {
        const std::string component = name() + std::string{unit};
        probe_.begin(component, event, scheduler_.clock().time_of(from));
        probe_.end(component, event, scheduler_.clock().time_of(end));
    }
}

void DmaChannel::words_pass(std::int64_t words, Cycles from) {
    if (!probe_) {
        return;
    }
    if (from != port_end_) {
        if (port_end_ > port_from_) {
            tell(".port", "words", port_from_, port_end_);
        }
        port_from_ = from;
    }
    port_end_ = from + Cycles{words};
}

void DmaChannel::finish_statistics(Cycles now) {
    if (port_end_ > port_from_) {
        tell(".port", "words", port_from_, port_end_);
    }
    stats_.time.charge_until(now.count());
}

void DmaChannel::push(const program::Task& task, const CriticalPath* path) {
    if (static_cast<std::int64_t>(queue_.size()) >= timing_.queue_depth) {
        ++stats_.dropped_pushes;
        dropped_ = task;
        return;
    }
    queue_.push_back(task);
    if (!current_) {
        follow(&path_, path);
        start_next_task();
    }
    most_queued_ = std::max(most_queued_, queued());
}

void DmaChannel::reset() {
    queue_.clear();
    const bool moving =
        state() == ChannelState::Streaming || (out_of_order() && state() != ChannelState::Fetching);
    if (!current_) {
        return;
    }
    if (moving) {
        abandoned_ = true;
        return;
    }
    ++resets_;
    locks_.withdraw(*this);
    start_next_task();
    tell_if_idle();
}

void DmaChannel::start_next_task() {
    const Cycles now = present();
    entry_ = nullptr;
    if (queue_.empty()) {
        current_.reset();
        enter(ChannelState::Idle, now);
        return;
    }
    first_task_ = first_task_.value_or(now);
    current_.emplace(queue_.front());
    queue_.pop_front();
    enter(ChannelState::Fetching, now);
    tell_now(".task_starts", "start_task", now);
    if (on_task_taken) {
        on_task_taken(id_);
    }
    scheduler_.at(now + timing_.task_start, *this, tag_of(kFetched));
}

void DmaChannel::on_event(std::uint64_t tag, base::Femtoseconds) {
    const Cycles now = scheduler_.now();
    if (tag >> 1 != resets_) {
        return;
    }
    path_.charge((tag & 1) == kGranted ? timing_.stream : PathPart::Fetching, now);
    if ((tag & 1) == kGranted) {
        transfer(now);
        return;
    }
    if (out_of_order()) {
        await_packet();
        return;
    }
    const std::int64_t first = current_->task().descriptor;
    entry_ = table_.find(first);
    if (entry_ == nullptr) {
        throw program::ProgramFault(
            fmt::format("cycle {}: {} starts descriptor {}, which nobody has written", now.count(),
                        name(), first));
    }
    request_lock(now);
}

void DmaChannel::await_packet() {
    entry_ = nullptr;
    enter(ChannelState::WaitingForStream, present());
    mover_->await_packet();
}

void DmaChannel::on_packet(std::optional<std::int64_t> descriptor) {
    const Cycles now = scheduler_.now();
    if (!descriptor) {
        throw program::ProgramFault(
            fmt::format("cycle {}: {} takes the middle of a packet for the header of the next: one "
                        "was not as long as the descriptor it named",
                        now.count(), name()));
    }
    entry_ = table_.find(*descriptor);
    if (entry_ == nullptr) {
        throw program::ProgramFault(
            fmt::format("cycle {}: a packet for {} names descriptor {}, which nobody has written",
                        now.count(), name(), *descriptor));
    }
    request_lock(now);
}

void DmaChannel::request_lock(Cycles from) {
    const auto& acquire = entry_->descriptor.acquire;
    if (!acquire || locks_.acquire(*acquire, *this)) {
        transfer(from);
        return;
    }
    enter(ChannelState::WaitingForLock, present());
}

void DmaChannel::on_lock_granted(Cycles when) {
    scheduler_.at(when + timing_.grant_to_stream, *this, tag_of(kGranted));
}

void DmaChannel::transfer(Cycles from) {
    transfer_begin_ = present();
    enter(ChannelState::Streaming, transfer_begin_);
    mover_->begin(*entry_, from);
}

void DmaChannel::finish_transfer(Cycles now) {
    // What the transfer took beyond its words, it waited: for memory, or else for the stream.
    edge_ = now;
    path_.charge(timing_.stream, now);
    const std::int64_t waited = (now - transfer_begin_).count() -
                                base::ceil_div(entry_->stream_words, timing_.words_per_cycle);
    stats_.time.charge_until(now.count());
    if (waited > 0) {
        const std::int64_t memory = std::min(waited, mover_->memory_wait().count());
        stats_.time.reclassify(ChannelState::Streaming, ChannelState::WaitingForMemory, memory);
        stats_.time.reclassify(ChannelState::Streaming, ChannelState::WaitingForStream,
                               waited - memory);
    }
    stats_.words += entry_->stream_words;
    ++stats_.descriptors;
    tell_now(".descriptors", "finished_bd", now);
    first_end_ = first_end_.value_or(now);
    last_end_ = now;

    DescriptorTable::Entry& done = *entry_;
    if (std::exchange(abandoned_, false)) {
        start_next_task();
        tell_if_idle();
        return;
    }
    if (done.descriptor.iteration) {
        done.iteration = (done.iteration + 1) % done.descriptor.iteration->size;
    }
    if (done.descriptor.release) {
        locks_.release(*done.descriptor.release, now, this);
    }
    if (done.descriptor.alternate) {
        swap_halves(done.descriptor);
    }
    const auto next = current_->after(done.descriptor);
    if (!next) {
        finish_task(now);
        return;
    }
    if (out_of_order()) {
        await_packet();
        return;
    }
    entry_ = table_.find(*next);
    if (entry_ == nullptr) {
        throw program::ProgramFault(
            fmt::format("cycle {}: {} chains to descriptor {}, which nobody has written",
                        now.count(), name(), *next));
    }
    request_lock(now + timing_.boundary_bubble);
}

void DmaChannel::finish_task(Cycles now) {
    ++stats_.tasks;
    tell_now(".task_ends", "finished_task", now);
    const bool token = current_->task().token;
    start_next_task();
    if (token) {
        on_token_(id_, now);
    }
    tell_if_idle();
}

void DmaChannel::tell_if_idle() const {
    if (idle() && on_idle) {
        on_idle(id_);
    }
}

}  // namespace tilesim::arch::npu::dma
