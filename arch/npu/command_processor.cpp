#include "arch/npu/command_processor.hpp"

namespace tilesim::arch::npu {

using base::Cycles;

namespace {

constexpr std::uint64_t kDispatched = 0;
constexpr std::uint64_t kOperationDone = 1;

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

CommandStats::CommandStats(Group& parent)
    : Group(parent, "command_processor"),
      time(*this, "time", base::stats::Unit::Cycle,
           {{"dispatch", "the launch's fixed cost"},
            {"writing", "writing descriptors, task queues and parameters"},
            {"syncing", "taking a completion token that is there"},
            {"waiting_for_token", "stopped until a transfer has completed"},
            {"done", "sequence finished"}}) {}

CommandProcessor::CommandProcessor(const CommandProcessorConfig& config, const Program& program,
                                   ControlTarget& target, CycleScheduler& scheduler,
                                   base::stats::Group& parent)
    : config_(config), program_(program), target_(target), scheduler_(scheduler), stats_(parent) {}

void CommandProcessor::start() {
    const base::Femtoseconds ready = scheduler_.queue().now() + config_.dispatch;
    scheduler_.at(scheduler_.clock().first_cycle_from(ready), *this, kDispatched);
}

const ChannelId* CommandProcessor::waiting_for() const {
    if (state() != CommandState::WaitingForToken) {
        return nullptr;
    }
    return &std::get<WaitToken>(program_.sequence[next_]).channel;
}

Cycles CommandProcessor::cost_of(const SequenceOp& operation) const {
    return std::visit(
        Overloaded{[this](const WriteDescriptor&) { return config_.descriptor_cycles; },
                   [this](const WaitToken&) { return config_.sync_cycles; },
                   [this](const auto&) { return config_.write_cycles; }},
        operation);
}

void CommandProcessor::begin_operation() {
    const Cycles now = scheduler_.now();
    if (next_ == program_.sequence.size()) {
        stats_.time.enter(CommandState::Done, now.count());
        finished_at_ = now;
        return;
    }
    const SequenceOp& operation = program_.sequence[next_];
    if (const auto* wait = std::get_if<WaitToken>(&operation)) {
        std::int64_t& tokens = tokens_[wait->channel];
        if (tokens == 0) {
            stats_.time.enter(CommandState::WaitingForToken, now.count());
            return;
        }
        --tokens;
        stats_.time.enter(CommandState::Syncing, now.count());
    } else {
        stats_.time.enter(CommandState::Writing, now.count());
    }
    scheduler_.at(now + cost_of(operation), *this, kOperationDone);
}

void CommandProcessor::finish_operation() {
    std::visit(
        Overloaded{[this](const WriteDescriptor& op) { target_.write_descriptor(op); },
                   [this](const PushTask& op) { target_.push_task(op); }, [](const WaitToken&) {},
                   [this](const WriteParameter& op) { target_.write_parameter(op); },
                   [this](const SetLock& op) { target_.set_lock(op); }},
        program_.sequence[next_]);
    ++stats_.operations;
    last_progress_ = scheduler_.now();
    ++next_;
}

void CommandProcessor::on_event(std::uint64_t tag, base::Femtoseconds) {
    if (tag == kOperationDone) {
        finish_operation();
    }
    begin_operation();
}

void CommandProcessor::on_token(const ChannelId& channel) {
    ++tokens_[channel];
    const ChannelId* waiting = waiting_for();
    if (waiting != nullptr && *waiting == channel) {
        begin_operation();
    }
}

}  // namespace tilesim::arch::npu
