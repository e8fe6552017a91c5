// One DMA channel: takes tasks from its queue and walks their chains of buffer descriptors.
//
// Models:  task queue of bounded depth (a push to a full queue is dropped), resets, repeat counts,
//          chaining, out-of-order descriptors (the packet's header names one), iteration state
//          kept in the descriptor, lock acquire before and release after each descriptor, one cycle
//          without a word at each descriptor boundary, completion tokens.
// Ignores: compression, finish-on-TLAST.
// Source:  Xilinx aie-rt, AMD AM020, mlir-aie; docs/modelling.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/npu/critical_path.hpp"
#include "arch/npu/cycle_scheduler.hpp"
#include "arch/npu/dma/descriptor_table.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/tile/lock_unit.hpp"

namespace tilesim::arch::npu::dma {

enum class ChannelState : std::size_t {
    Idle,
    Fetching,
    WaitingForLock,
    Streaming,
    WaitingForStream,
    WaitingForMemory
};
inline constexpr base::stats::StateTable<ChannelState> kChannelStates{{
    {ChannelState::Idle, "idle", "no task"},
    {ChannelState::Fetching, "fetching",
     "starting a task: reading its descriptor, first request under way"},
    {ChannelState::WaitingForLock, "waiting_for_lock", "stopped at a descriptor's lock acquire"},
    {ChannelState::Streaming, "streaming", "moving words as fast as its stream can"},
    {ChannelState::WaitingForStream, "waiting_for_stream",
     "S2MM: nothing arrives; MM2S: the receiver does not take words"},
    {ChannelState::WaitingForMemory, "waiting_for_memory",
     "DRAM has not delivered or taken the data"},
}};

struct DmaStats : base::stats::Group {
    // `tile`: its class tells a shim's channels from a core's.
    DmaStats(Group& tile, std::string_view name);
    base::stats::StateAccount time;
    base::stats::Counter words{*this, "words", base::stats::Unit::Count,
                               "32-bit words moved between stream and memory"};
    base::stats::Counter descriptors{*this, "descriptors", base::stats::Unit::Count,
                                     "buffer descriptors finished"};
    base::stats::Counter tasks{*this, "tasks", base::stats::Unit::Count, "tasks finished"};
    base::stats::Counter dropped_pushes{*this, "dropped_pushes", base::stats::Unit::Count,
                                        "pushes lost because the task queue was full"};
};

class DmaChannel;

// How a channel moves a descriptor's words: between tile memory and stream, or DRAM and stream.
class Mover {
  public:
    virtual ~Mover() = default;
    // Moves the words of the descriptor; calls DmaChannel::finish_transfer at the end.
    virtual void begin(const DescriptorTable::Entry& entry, base::Cycles from) = 0;
    // S2MM: calls DmaChannel::on_packet when the next packet begins to arrive.
    virtual void await_packet() {}
    // Cycles of the finished transfer the channel waited for memory rather than for its stream.
    virtual base::Cycles memory_wait() const { return base::Cycles{0}; }
};

class DmaChannel final : public base::EventHandler, public tile::LockClient {
  public:
    struct Timing {
        base::Cycles task_start;       // task to first lock request
        base::Cycles boundary_bubble;  // no word passes between descriptors
        base::Cycles grant_to_stream;  // from a lock that was waited for to the first word
        std::int64_t queue_depth;
        std::int64_t words_per_cycle = 1;
        PathPart stream = PathPart::Stream;
    };
    using TokenSink = std::function<void(const program::ChannelId&, base::Cycles)>;

    DmaChannel(const program::ChannelId& id, const Timing& timing, CycleScheduler& scheduler,
               tile::LockUnit& locks, DescriptorTable& table, base::stats::Group& parent,
               TokenSink on_token);

    void set_mover(std::unique_ptr<Mover> mover) { mover_ = std::move(mover); }
    void connect(base::ProbeListener* listener) { probe_.connect(listener); }

    const program::ChannelId& id() const { return id_; }
    const std::string& name() const { return stats_.path(); }
    bool idle() const { return !current_ && queue_.empty(); }
    ChannelState state() const { return static_cast<ChannelState>(stats_.time.current()); }
    base::Cycles since() const { return base::Cycles{stats_.time.since()}; }
    std::int64_t queued() const { return static_cast<std::int64_t>(queue_.size()); }
    std::int64_t most_queued() const { return most_queued_; }  // at a time, so far
    // The descriptor being executed or waited for.
    const program::BufferDescriptor* descriptor() const;
    // What the push that was dropped last would have started, for reports.
    const std::optional<program::Task>& dropped() const { return dropped_; }
    std::int64_t dropped_pushes() const { return stats_.dropped_pushes.value(); }

    std::function<void(const program::ChannelId&)> on_idle;        // called when no task is left
    std::function<void(const program::ChannelId&)> on_task_taken;  // of the queue
    // When the first descriptor ended and when the last one did; nothing before.
    std::optional<base::Cycles> first_end() const { return first_end_; }
    // When it took its first task; nothing before.
    std::optional<base::Cycles> first_task() const { return first_task_; }
    base::Cycles last_progress() const { return last_end_; }
    std::int64_t descriptors_done() const { return stats_.descriptors.value(); }
    std::int64_t words_done() const { return stats_.words.value(); }
    base::Cycles streaming() const {
        return base::Cycles{stats_.time.spent(static_cast<std::size_t>(ChannelState::Streaming))};
    }

    // `path`: of whoever pushes it.
    void push(const program::Task& task, const CriticalPath* path = nullptr);
    // Drops the queue and the task. What a descriptor has begun to move still moves; it releases
    // nothing and leads nowhere.
    void reset();
    void finish_statistics(base::Cycles now);

    // Words pass the channel's port of the switch, one a cycle; listeners hear of runs without a
    // gap.
    void words_pass(std::int64_t words, base::Cycles from);

    void finish_transfer(base::Cycles now);
    // The task takes packets by their headers, one word each in front of the data.
    bool out_of_order() const { return current_ && current_->task().out_of_order; }
    void on_packet(std::optional<std::int64_t> descriptor);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_lock_granted(base::Cycles when) override;
    std::string_view lock_client() const override { return name(); }
    CriticalPath* critical_path() override { return &path_; }
    const CriticalPath& path() const { return path_; }

  private:
    void start_next_task();
    void await_packet();
    void request_lock(base::Cycles from);
    void transfer(base::Cycles from);
    void finish_task(base::Cycles now);
    void tell_if_idle() const;
    void enter(ChannelState state, base::Cycles now);
    void tell(std::string_view unit, std::string_view event, base::Cycles from,
              base::Cycles end) const;
    void tell_now(std::string_view unit, std::string_view event, base::Cycles at) const {
        tell(unit, event, at, at + base::Cycles{1});
    }
    std::uint64_t tag_of(std::uint64_t kind) const { return resets_ << 1 | kind; }
    // The present cycle: what happens between two edges of the clock takes effect at the later.
    base::Cycles present() const { return std::max(scheduler_.now(), edge_); }

    program::ChannelId id_;
    Timing timing_;
    CycleScheduler& scheduler_;
    tile::LockUnit& locks_;
    DescriptorTable& table_;
    TokenSink on_token_;
    DmaStats stats_;
    CriticalPath path_;
    base::Probe probe_;
    std::unique_ptr<Mover> mover_;

    std::deque<program::Task> queue_;
    std::int64_t most_queued_ = 0;
    std::optional<program::RunningTask> current_;
    std::optional<program::Task> dropped_;
    DescriptorTable::Entry* entry_ = nullptr;
    base::Cycles port_from_{0}, port_end_{0};  // words passing without a gap, not yet told
    std::uint64_t resets_ = 0;                 // events of before one do not count
    bool abandoned_ = false;  // the transfer under way is of a task that was dropped
    base::Cycles transfer_begin_{0};
    base::Cycles edge_{0};  // of the end of the last transfer
    std::optional<base::Cycles> first_task_;
    std::optional<base::Cycles> first_end_;
    base::Cycles last_end_{0};
};

}  // namespace tilesim::arch::npu::dma
