// The command processor: executes the run-time sequence, one operation after the other.
//
// Models:  a clock of its own; a cost per register write and per descriptor block write, which take
//          effect at the array's next edge; completion tokens counted per
//          channel, sync takes one or waits; polling a channel until it is idle; a fixed dispatch
//          cost before the first operation; host copies into tile memory, a cost at start and one
//          per word; lock acquires.
// Ignores: instruction fetch from DRAM, the host's queue; tokens' way through the switches.
// Source:  mlir-aie transaction format; costs from the measurements named in the device files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/npu/cycle_scheduler.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/tile/lock_unit.hpp"

namespace tilesim::arch::npu::control {

// What the processor's writes reach.
class ControlTarget {
  public:
    virtual void write_descriptor(const program::WriteDescriptor& operation) = 0;
    virtual void push_task(const program::PushTask& operation) = 0;
    virtual void write_parameter(const program::WriteParameter& operation) = 0;
    virtual void set_lock(const program::SetLock& operation) = 0;
    // False: queued, `client` hears when it is granted.
    virtual bool acquire_lock(const program::LockAction& action, tile::LockClient& client) = 0;
    virtual void copy(const program::CopyToTile& operation) = 0;
    virtual bool idle(const program::ChannelId& channel) const = 0;
    // Tasks that wait behind the one it has.
    virtual std::int64_t queued(const program::ChannelId& channel) const = 0;
    virtual void reset_channel(const program::ResetChannel& operation) = 0;
    virtual void reset_core(const program::ResetCore& operation) = 0;

  protected:
    ~ControlTarget() = default;
};

enum class CommandState : std::size_t {
    Dispatch,
    Writing,
    Syncing,
    WaitingForToken,
    Copying,
    WaitingForLock,
    Done
};
inline constexpr base::stats::StateTable<CommandState> kCommandStates{{
    {CommandState::Dispatch, "dispatch", "the launch's fixed cost"},
    {CommandState::Writing, "writing", "writing descriptors, task queues and parameters"},
    {CommandState::Syncing, "syncing", "taking a completion token that is there"},
    {CommandState::WaitingForToken, "waiting_for_token", "stopped until a transfer has completed"},
    {CommandState::Copying, "copying", "writing a tile's memory word by word"},
    {CommandState::WaitingForLock, "waiting_for_lock", "stopped at a lock"},
    {CommandState::Done, "done", "sequence finished"},
}};

struct CommandStats : base::stats::Group {
    explicit CommandStats(Group& parent);
    base::stats::StateAccount time;
    base::stats::Counter operations{*this, "operations", base::stats::Unit::Count,
                                    "run-time sequence operations executed"};
};

class CommandProcessor final : public base::EventHandler, public tile::LockClient {
  public:
    CommandProcessor(const CommandProcessorConfig& config, const program::Program& program,
                     ControlTarget& target, CycleScheduler& scheduler, base::stats::Group& parent);

    const std::string& name() const { return stats_.path(); }
    bool done() const { return state() == CommandState::Done; }
    CommandState state() const { return static_cast<CommandState>(stats_.time.current()); }
    base::Cycles since() const { return base::Cycles{stats_.time.since()}; }
    // The channel whose token or idleness the processor waits for; nothing when it does not wait.
    const program::ChannelId* waiting_for() const;
    bool waits_for_token() const;  // rather than for a channel's idleness
    const program::LockAction* waiting_for_lock() const;
    std::size_t position() const { return next_; }
    // When it executed its last operation.
    base::Cycles last_progress() const { return last_progress_; }
    base::Cycles finished_at() const { return finished_at_; }

    void connect(base::ProbeListener* listener) { probe_.connect(listener); }
    // `dispatch`: what passes before the first operation.
    void start(base::Femtoseconds dispatch);
    std::function<void()> on_done;  // called when the last operation has ended
    // `path`: the channel's.
    void on_token(const program::ChannelId& channel, const CriticalPath* path = nullptr);
    // The channel has taken or ended a task: whoever polls its status sees it.
    void on_status(const program::ChannelId& channel, const CriticalPath* path = nullptr);
    void on_lock_granted(base::Cycles when) override;
    std::string_view lock_client() const override { return name(); }
    CriticalPath* critical_path() override { return &path_; }
    const CriticalPath& path() const { return path_; }
    void finish_statistics(base::Cycles now) { stats_.time.charge_until(now.count()); }

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;

  private:
    void charge_path();
    void set_state(CommandState state);
    void begin_operation();
    // Enters the operation's state; false when it has to wait.
    bool enter(const program::SequenceOp& operation);
    void run_operation();
    void finish_operation();
    base::Femtoseconds copy_time(const program::CopyToTile& copy) const;
    base::Femtoseconds cost_of(const program::SequenceOp& operation) const;

    CommandProcessorConfig config_;
    base::Clock clock_;  // its own
    const program::Program& program_;
    ControlTarget& target_;
    CycleScheduler& scheduler_;
    CommandStats stats_;
    CriticalPath path_;
    base::Probe probe_;
    std::size_t next_ = 0;
    std::map<program::ChannelId, std::int64_t> tokens_;
    base::Cycles last_progress_{0};
    base::Cycles finished_at_{0};
};

}  // namespace tilesim::arch::npu::control
