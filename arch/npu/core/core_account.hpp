// Where a core's time goes: its state, since when, and what it has counted.
#pragma once

#include <string>
#include <string_view>

#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/npu/critical_path.hpp"
#include "arch/npu/cycle_scheduler.hpp"

namespace tilesim::arch::npu::core {

enum class CoreState : std::size_t {
    Multiply,
    Zero,
    Add,
    Vector,
    Fixed,
    Call,
    LockOperation,
    Cascade,
    Stream,
    WaitingForInput,
    WaitingForOutput,
    WaitingForLock,
    WaitingForHost,
    ReadingC,
    WritingC,
    WaitingForStream,
    WaitingForCascade,
    Done
};

inline constexpr base::stats::StateTable<CoreState> kCoreStates{{
    {CoreState::Multiply, "multiply", "in the matrix-multiply kernel"},
    {CoreState::Zero, "zero", "in the kernel that clears the C tile"},
    {CoreState::Add, "add", "in a kernel that adds element by element"},
    {CoreState::Vector, "vector",
     "in a kernel that works on vectors, element by element or by rows"},
    {CoreState::Fixed, "fixed_kernel", "in a kernel of stated cost"},
    {CoreState::Call, "call", "calling a kernel and returning from it"},
    {CoreState::LockOperation, "lock_operation",
     "executing lock acquires and releases that did not have to wait"},
    {CoreState::Cascade, "cascade",
     "putting words on or getting them from the cascade, one a cycle"},
    {CoreState::Stream, "stream",
     "putting words on or getting them from its own stream ports, one a cycle"},
    {CoreState::WaitingForInput, "waiting_for_input",
     "stopped at a lock an arriving stream releases: A or B"},
    {CoreState::WaitingForOutput, "waiting_for_output",
     "stopped at a lock a leaving stream releases: C drain"},
    {CoreState::WaitingForLock, "waiting_for_lock", "stopped at another lock"},
    {CoreState::WaitingForHost, "waiting_for_host",
     "stopped at a parameter or lock the host gives: dispatch, B's copy"},
    {CoreState::ReadingC, "c_load", "reading C from its stream, a word a cycle"},
    {CoreState::WritingC, "c_store", "writing C to its stream, a word a cycle"},
    {CoreState::WaitingForStream, "waiting_for_stream",
     "words do not arrive on its own stream ports (A, C), or are not taken (C)"},
    {CoreState::WaitingForCascade, "waiting_for_cascade",
     "the cascade's other end does not take or give words"},
    {CoreState::Done, "done", "script finished, or not started"},
}};

struct CoreStats : base::stats::Group {
    explicit CoreStats(Group& parent) : Group(parent, "core") {}
    base::stats::StateAccount time{*this, "time", base::stats::Unit::Cycle, kCoreStates,
                                   CoreState::Done};
    base::stats::Counter calls{*this, "calls", base::stats::Unit::Count, "kernel calls"};
    base::stats::Counter macs{*this, "macs", base::stats::Unit::Count, "multiply-accumulates"};
};

class CoreAccount {
  public:
    CoreAccount(CycleScheduler& scheduler, base::stats::Group& parent)
        : scheduler_(scheduler), stats_(parent) {}

    void connect(base::ProbeListener* listener) { probe_.connect(listener); }
    const std::string& name() const { return stats_.path(); }
    CoreState state() const { return static_cast<CoreState>(stats_.time.current()); }
    base::Cycles since() const { return base::Cycles{stats_.time.since()}; }
    const CoreStats& stats() const { return stats_; }
    CriticalPath* critical_path() { return &path_; }
    const CriticalPath& path() const { return path_; }

    void enter(CoreState state);
    // Tells listeners of an event that no state is: "core.kernel" has "event_0" for a cycle.
    void tell(std::string_view unit, std::string_view event, base::Cycles from,
              base::Cycles cycles = base::Cycles{1}) const;
    // The core has been moving words since `begin`: what that took beyond a word a cycle, it stood
    // `waiting`.
    void charge_words(std::int64_t words, base::Cycles begin, CoreState waiting);
    // `works`: on operands. Clearing C does not: it waits for none, and is done ahead of its round.
    void count_call(std::int64_t macs, bool works);
    std::int64_t working_calls() const { return working_calls_; }
    void finish(base::Cycles now) { stats_.time.charge_until(now.count()); }

  private:
    CycleScheduler& scheduler_;
    CoreStats stats_;
    std::int64_t working_calls_ = 0;
    CriticalPath path_;
    base::Probe probe_;
};

}  // namespace tilesim::arch::npu::core
