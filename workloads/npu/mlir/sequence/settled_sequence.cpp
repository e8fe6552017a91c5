#include "workloads/npu/mlir/sequence/settled_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/program/program_parts.hpp"
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

// What a parameter holds at start.
struct AtStart {
    std::int64_t runs = 0;  // of a loop to it
    bool assumed = false;   // nobody states it
};
using Parameters = std::map<std::int64_t, AtStart>;  // by their numbers

// Loops to parameters that keep the value they have at start run so often.
void settle_parameters(Lowering& lowering, const Parameters& kept,
                       std::vector<program::CoreOp>& script) {
    for (program::CoreOp& each : script) {
        auto* loop = std::get_if<program::LoopOp>(&each.op);
        if (loop == nullptr) {
            continue;
        }
        settle_parameters(lowering, kept, loop->body);
        const auto value = loop->parameter ? kept.find(*loop->parameter) : kept.end();
        if (value == kept.end()) {
            continue;
        }
        loop->count = value->second.runs;
        loop->parameter.reset();
        if (value->second.assumed) {
            lowering.note(
                "words of a run-time parameter array that the sequence never writes are taken as "
                "0");
        }
    }
}

std::set<std::int64_t> written_parameters(const Lowering& lowering) {
    std::set<std::int64_t> written;
    for (const program::SequenceOp& operation : lowering.program.sequence) {
        if (const auto* write = std::get_if<program::WriteParameter>(&operation)) {
            written.insert(write->index);
        }
    }
    return written;
}

// Buffers that DMAs or other cores write, whatever they hold at start.
std::set<std::int64_t> moved_buffers(const Lowering& lowering) {
    std::set<std::int64_t> moved;
    for (const FifoPool& pool : lowering.fifo_pools) {
        moved.insert(pool.buffers.begin(), pool.buffers.end());
    }
    const auto add = [&](program::TileCoordinate tile, const program::BufferDescriptor& each) {
        if (lowering.config.kind_of(tile) != program::TileKind::Shim) {  // whose are in DRAM
            moved.insert(each.buffer);
        }
    };
    program::for_each_descriptor(lowering.program, add);
    return moved;
}

// Words of arrays whose contents the design states, and zeros in those of which the sequence writes
// others.
Parameters parameters_at_start(const Lowering& lowering, const std::set<std::int64_t>& written) {
    std::set<std::int64_t> arrays;  // buffers
    for (const auto& [word, number] : lowering.parameters) {
        if (written.contains(number)) {
            arrays.insert(word.first);
        }
    }
    const std::set<std::int64_t> moved = moved_buffers(lowering);
    Parameters values;
    std::map<std::int64_t, std::int64_t> bounds;
    for (const auto& [word, number] : lowering.parameters) {
        const auto contents = lowering.contents.find(word.first);
        const bool stated = contents != lowering.contents.end() && !moved.contains(word.first);
        if (!stated && (!arrays.contains(word.first) || written.contains(number))) {
            continue;
        }
        const auto index = static_cast<std::size_t>(word.second);
        const bool holds = stated && index < contents->second.size();
        bounds[number] = holds ? static_cast<std::int32_t>(contents->second[index]) : 0;
        values[number] = {std::max<std::int64_t>(bounds[number], 0), !stated};
    }
    for (const Lowering::LoopParameter& counts : lowering.loop_parameters) {
        if (const auto bound = bounds.find(counts.bound); bound != bounds.end()) {
            values[counts.number] = {
                times_passed(counts.predicate, counts.first, counts.step, bound->second),
                values[counts.bound].assumed};
        }
    }
    return values;
}

bool reads_any_of(const std::vector<program::CoreOp>& script, const Parameters& parameters) {
    return std::any_of(script.begin(), script.end(), [&](const program::CoreOp& each) {
        const auto* loop = std::get_if<program::LoopOp>(&each.op);
        return loop != nullptr && ((loop->parameter && parameters.contains(*loop->parameter)) ||
                                   reads_any_of(loop->body, parameters));
    });
}

void settle_parameters(Lowering& lowering) {
    const std::set<std::int64_t> written = written_parameters(lowering);
    Parameters kept = parameters_at_start(lowering, written);
    Parameters first;  // of those that the sequence changes
    for (const std::int64_t number : written) {
        if (const auto each = kept.find(number); each != kept.end()) {
            first.insert(kept.extract(each));
        }
    }
    for (program::CoreProgram& core : lowering.program.cores) {
        if (reads_any_of(core.script, first)) {
            core.parameters.assign(static_cast<std::size_t>(first.rbegin()->first) + 1, 0);
            for (const auto& [number, value] : first) {
                core.parameters[static_cast<std::size_t>(number)] = value.runs;
            }
        }
        settle_parameters(lowering, kept, core.script);
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
