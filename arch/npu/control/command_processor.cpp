#include "arch/npu/control/command_processor.hpp"

namespace tilesim::arch::npu::control {

using base::Cycles;

namespace {

constexpr std::uint64_t kDispatched = 0;
constexpr std::uint64_t kOperationDone = 1;
constexpr std::uint64_t kGranted = 2;  // the lock the processor has waited for

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

CommandStats::CommandStats(Group& parent)
    : Group(parent, "command_processor"),
      time(*this, "time", base::stats::Unit::Cycle, kCommandStates) {}

CommandProcessor::CommandProcessor(const CommandProcessorConfig& config,
                                   const program::Program& program, ControlTarget& target,
                                   CycleScheduler& scheduler, base::stats::Group& parent)
    : config_(config),
      clock_(config.clock),
      program_(program),
      target_(target),
      scheduler_(scheduler),
      stats_(parent) {}

void CommandProcessor::charge_path() {
    path_.charge(state() == CommandState::Dispatch  ? PathPart::Dispatch
                 : state() == CommandState::Copying ? PathPart::Copying
                                                    : PathPart::Writing,
                 scheduler_.now());
}

void CommandProcessor::set_state(CommandState state) {
    charge_path();
    if (probe_) {
        const base::Femtoseconds now = scheduler_.queue().now();
        probe_.end(name(), kCommandStates[this->state()].name, now);
        probe_.begin(name(), kCommandStates[state].name, now);
    }
    stats_.time.enter(state, scheduler_.now().count());
}

void CommandProcessor::start(base::Femtoseconds dispatch) {
    probe_.begin(name(), kCommandStates[CommandState::Dispatch].name, scheduler_.queue().now());
    const base::Femtoseconds ready = scheduler_.queue().now() + dispatch;
    scheduler_.at(scheduler_.clock().first_cycle_from(ready), *this, kDispatched);
}

const program::ChannelId* CommandProcessor::waiting_for() const {
    if (state() != CommandState::WaitingForToken) {
        return nullptr;
    }
    const program::SequenceOp& operation = program_.sequence[next_];
    const auto* token = std::get_if<program::WaitToken>(&operation);
    return token != nullptr ? &token->channel : &std::get<program::WaitIdle>(operation).channel;
}

bool CommandProcessor::waits_for_token() const {
    return std::holds_alternative<program::WaitToken>(program_.sequence[next_]);
}

const program::LockAction* CommandProcessor::waiting_for_lock() const {
    return state() == CommandState::WaitingForLock
               ? &std::get<program::AcquireLock>(program_.sequence[next_]).action
               : nullptr;
}

base::Femtoseconds CommandProcessor::copy_time(const program::CopyToTile& copy) const {
    return config_.copy_start + config_.copy_word * base::ceil_div(copy.bytes, kWordBytes);
}

base::Femtoseconds CommandProcessor::cost_of(const program::SequenceOp& operation) const {
    if (const auto* copy = std::get_if<program::CopyToTile>(&operation)) {
        return copy_time(*copy);
    }
    return clock_.time_of(std::visit(
        Overloaded{
            [this](const program::WriteDescriptor&) { return config_.descriptor_cycles; },
            [this](const program::WaitToken&) { return config_.sync_cycles; },
            [this](const program::WaitIdle&) { return config_.sync_cycles; },
            [this](const program::WriteRegisters& op) { return config_.write_cycles * op.writes; },
            [this](const auto&) { return config_.write_cycles; }},
        operation));
}

void CommandProcessor::begin_operation() {
    const Cycles now = scheduler_.now();
    if (next_ == program_.sequence.size()) {
        set_state(CommandState::Done);
        finished_at_ = now;
        if (on_done) {
            on_done();
        }
        return;
    }
    if (enter(program_.sequence[next_])) {
        run_operation();
    }
}

bool CommandProcessor::enter(const program::SequenceOp& operation) {
    CommandState state = CommandState::Writing;
    bool ready = true;
    if (const auto* token = std::get_if<program::WaitToken>(&operation)) {
        std::int64_t& tokens = tokens_[token->channel];
        ready = tokens > 0;
        tokens -= ready ? 1 : 0;
        state = ready ? CommandState::Syncing : CommandState::WaitingForToken;
    } else if (const auto* idle = std::get_if<program::WaitIdle>(&operation)) {
        ready = idle->queued ? target_.queued(idle->channel) <= *idle->queued
                             : target_.idle(idle->channel);
        state = ready ? CommandState::Syncing : CommandState::WaitingForToken;
    } else if (const auto* lock = std::get_if<program::AcquireLock>(&operation)) {
        ready = target_.acquire_lock(lock->action, *this);
        state = ready ? CommandState::Writing : CommandState::WaitingForLock;
    } else if (std::holds_alternative<program::CopyToTile>(operation)) {
        state = CommandState::Copying;
    }
    set_state(state);
    return ready;
}

void CommandProcessor::run_operation() {
    const base::Femtoseconds end = scheduler_.queue().now() + cost_of(program_.sequence[next_]);
    scheduler_.at(scheduler_.clock().first_cycle_from(end), *this, kOperationDone);
}

void CommandProcessor::finish_operation() {
    charge_path();
    std::visit(
        Overloaded{[this](const program::WriteDescriptor& op) { target_.write_descriptor(op); },
                   [this](const program::PushTask& op) { target_.push_task(op); },
                   [](const program::WaitToken&) {},
                   [this](const program::WriteParameter& op) { target_.write_parameter(op); },
                   [this](const program::SetLock& op) { target_.set_lock(op); },
                   [](const program::WaitIdle&) {}, [](const program::AcquireLock&) {},
                   [this](const program::CopyToTile& op) { target_.copy(op); },
                   [this](const program::ResetChannel& op) { target_.reset_channel(op); },
                   [this](const program::ResetCore& op) { target_.reset_core(op); },
                   [](const program::WriteRegisters&) {}},
        program_.sequence[next_]);
    ++stats_.operations;
    last_progress_ = scheduler_.now();
    ++next_;
}

void CommandProcessor::on_event(std::uint64_t tag, base::Femtoseconds) {
    if (tag == kGranted) {
        set_state(CommandState::Writing);
        run_operation();
        return;
    }
    if (tag == kOperationDone) {
        finish_operation();
    }
    begin_operation();
}

void CommandProcessor::on_token(const program::ChannelId& channel, const CriticalPath* path) {
    ++tokens_[channel];
    on_status(channel, path);
}

void CommandProcessor::on_status(const program::ChannelId& channel, const CriticalPath* path) {
    const program::ChannelId* waiting = waiting_for();
    if (waiting != nullptr && *waiting == channel) {
        follow(&path_, path);
        begin_operation();
    }
}

void CommandProcessor::on_lock_granted(Cycles when) {
    scheduler_.at(when, *this, kGranted);
}

}  // namespace tilesim::arch::npu::control
