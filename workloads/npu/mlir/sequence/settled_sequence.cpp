#include "workloads/npu/mlir/sequence/settled_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "arch/base/config.hpp"
#include "workloads/npu/mlir/control_flow/loop_count.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using control_flow::times_passed;

namespace {

void poll_without_tokens(Lowering& lowering) {
    const auto sends = [&lowering](const program::ChannelId& channel) {
        return lowering.config.dma_of(lowering.config.kind_of(channel.tile)).tokens;
    };
    for (program::SequenceOp& operation : lowering.program.sequence) {
        if (auto* push = std::get_if<program::PushTask>(&operation)) {
            push->task.token = push->task.token && sends(push->channel);
        } else if (const auto* wait = std::get_if<program::WaitToken>(&operation);
                   wait != nullptr && !sends(wait->channel)) {
            operation = program::WaitIdle{program::ChannelId{wait->channel}};
        }
    }
}

// An array of parameters of which the sequence writes some: the others hold 0.
void settle_parameters(Lowering& lowering, const std::set<std::int64_t>& zero,
                       std::vector<program::CoreOp>& script) {
    for (program::CoreOp& each : script) {
        auto* loop = std::get_if<program::LoopOp>(&each.op);
        if (loop == nullptr) {
            continue;
        }
        settle_parameters(lowering, zero, loop->body);
        if (!loop->parameter || !zero.contains(*loop->parameter)) {
            continue;
        }
        loop->count = 0;
        for (const Lowering::LoopParameter& counts : lowering.loop_parameters) {
            if (counts.number == *loop->parameter) {
                loop->count = times_passed(counts.predicate, counts.first, counts.step, 0);
            }
        }
        loop->parameter.reset();
        lowering.note(
            "words of a run-time parameter array that the sequence never writes are taken as 0");
    }
}
void settle_parameters(Lowering& lowering) {
    std::set<std::int64_t> written;
    for (const program::SequenceOp& operation : lowering.program.sequence) {
        if (const auto* write = std::get_if<program::WriteParameter>(&operation)) {
            written.insert(write->index);
        }
    }
    std::set<std::int64_t> arrays, zero;  // buffers; parameters
    for (const auto& [word, number] : lowering.parameters) {
        if (written.contains(number)) {
            arrays.insert(word.first);
        }
    }
    for (const auto& [word, number] : lowering.parameters) {
        if (arrays.contains(word.first) && !written.contains(number)) {
            zero.insert(number);
        }
    }
    for (const Lowering::LoopParameter& counts : lowering.loop_parameters) {
        if (zero.contains(counts.bound)) {
            zero.insert(counts.number);
        }
    }
    for (program::CoreProgram& core : lowering.program.cores) {
        settle_parameters(lowering, zero, core.script);
    }
}

}  // namespace

void settle_sequence(Lowering& lowering) {
    poll_without_tokens(lowering);
    settle_parameters(lowering);
}

void add_host_steps(Lowering& lowering) {
    std::vector<std::string> names;
    for (const program::Lock& lock : lowering.program.locks) {
        names.push_back(lock.name);
    }
    for (const HostStep& step : lowering.options.host) {
        const auto place = std::find(names.begin(), names.end(), step.lock);
        if (place == names.end()) {
            throw ReadError(lowering.device.where,
                            fmt::format("design.host: no lock is named '{}'{}", step.lock,
                                        arch::base::config::did_you_mean(step.lock, names)));
        }
        const std::int64_t most = lowering.config.most_lock_value();
        if (step.value > most) {
            throw ReadError(lowering.device.where,
                            fmt::format("design.host: lock '{}' holds 0..{}, got {}", step.lock,
                                        most, step.value));
        }
        const std::int64_t lock = place - names.begin();
        const bool counting = lowering.config.lock_kind == LockKind::Counting;
        if (step.wait) {
            lowering.program.sequence.push_back(
                program::AcquireLock{{lock, counting ? -step.value : step.value}});
        } else {
            lowering.program.sequence.push_back(program::SetLock{lock, step.value});
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::sequence
