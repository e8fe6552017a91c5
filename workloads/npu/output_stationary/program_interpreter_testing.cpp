#include "workloads/npu/output_stationary/program_interpreter_testing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "arch/npu/core/kernel_function.hpp"
#include "arch/npu/core/kernel_timing.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

constexpr std::uint64_t kShuffleEvery = 64;  // steps, on average

// Every run of the descriptor: (byte offset in its buffer, words), in stream order.
template <class Action>
void for_each_run(const program::BufferDescriptor& descriptor, Action action) {
    dma::AddressGenerator addresses(descriptor, 0);
    std::int64_t left = dma::stream_words(descriptor);
    while (left > 0) {
        const dma::Run run = addresses.take(left);
        action(descriptor.offset + run.offset * kWordBytes, run.words);
        left -= run.words;
    }
}

}  // namespace

ProgramInterpreter::ProgramInterpreter(const NpuConfig& config, const program::Program& program,
                                       arch::memory::port::BackingStore& store, std::uint64_t seed)
    : config_(config), program_(program), store_(store), random_(seed), memory_(config, program) {
    on_call = [this](const program::Kernel& kernel, program::TileCoordinate,
                     const std::vector<std::span<std::byte>>& operands) {
        if (kernel.kind == program::KernelKind::Multiply) {
            const core::KernelTiming timing(config_.kernels);
            core::multiply(kernel, timing.mode_of(kernel), operands[0], operands[1], operands[2]);
        } else if (kernel.kind == program::KernelKind::Zero) {
            core::zero(operands[0]);
        }
    };
    for (const program::Lock& lock : program.locks) {
        locks_.push_back(lock.initial);
    }
    connect();
    for (const program::TileDma& dma : program.dmas) {
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            table_[dma.tile][descriptor.id] = descriptor;
        }
        for (const program::TileDma::Start& start : dma.starts) {
            channels_[channel_index_.at({dma.tile, start.direction, start.channel})]
                .queue.push_back(start.task);
        }
    }
    for (const program::CoreProgram& core : program.cores) {
        cores_.push_back({&core,
                          {{&core.script, 0, 1}},
                          std::vector<std::size_t>(core.rotations.size(), 0),
                          {}});
    }
    order_.resize(channels_.size() + cores_.size() + 1);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    shuffle();
}

void ProgramInterpreter::connect() {
    const auto channel = [this](const program::ChannelId& id) -> Channel& {
        const auto [place, added] = channel_index_.emplace(id, channels_.size());
        if (added) {
            Channel fresh;
            fresh.id = id;
            channels_.push_back(fresh);
        }
        return channels_[place->second];
    };
    for (const program::Route& route : program_.routes) {
        for (const program::ChannelId& destination : route.destinations) {
            // Packets queue for their receiver in the order in which they are sent.
            const auto queue = channel(destination).from;
            const std::size_t stream = route.packet_id && queue ? *queue : streams_.size();
            channel(route.source).to.push_back(stream);
            channel(destination).from = stream;
            streams_.resize(std::max(streams_.size(), stream + 1));
        }
    }
}

void ProgramInterpreter::shuffle() {
    std::shuffle(order_.begin(), order_.end(), random_);
}

bool ProgramInterpreter::run() {
    bool moved = true;
    while (moved) {
        moved = std::any_of(order_.begin(), order_.end(),
                            [this](std::size_t agent) { return step_agent(agent); });
        if (random_() % kShuffleEvery == 0) {
            shuffle();
        }
    }
    return next_operation_ == program_.sequence.size() &&
           std::all_of(cores_.begin(), cores_.end(),
                       [](const Core& core) { return core.stack.empty(); });
}

bool ProgramInterpreter::step_agent(std::size_t agent) {
    if (agent < channels_.size()) {
        return step(channels_[agent]);
    }
    agent -= channels_.size();
    return agent < cores_.size() ? step(cores_[agent]) : step_sequence();
}

bool ProgramInterpreter::try_acquire(const program::LockAction& action) {
    std::int64_t& state = locks_[static_cast<std::size_t>(action.lock)];
    if (action.value < 0 ? state < -action.value : state != action.value) {
        return false;
    }
    state += std::min<std::int64_t>(action.value, 0);
    return true;
}

const program::BufferDescriptor& ProgramInterpreter::find(const Channel& channel) const {
    return table_.at(channel.id.tile).at(channel.descriptor);
}

bool ProgramInterpreter::step(Channel& channel) {
    if (!channel.task) {
        if (channel.queue.empty()) {
            return false;
        }
        channel.task.emplace(channel.queue.front());
        channel.queue.pop_front();
        channel.descriptor = channel.task->task().descriptor;
        channel.acquired = false;
        return true;
    }
    const bool named = channel.task->task().out_of_order;
    if (named && !channel.acquired) {
        if (streams_[*channel.from].words.empty()) {
            return false;
        }
        channel.descriptor = streams_[*channel.from].words.front();
    }
    const program::BufferDescriptor& descriptor = find(channel);
    if (!channel.acquired) {
        channel.acquired = !descriptor.acquire || try_acquire(*descriptor.acquire);
        return channel.acquired;
    }
    if (channel.id.direction == program::Direction::MM2S) {
        if (!receivers_ready(channel)) {
            return false;
        }
        send(channel, descriptor);
    } else {
        if (static_cast<std::int64_t>(streams_[*channel.from].words.size()) < descriptor.length) {
            return false;
        }
        if (named) {
            streams_[*channel.from].words.pop_front();
        }
        receive(channel, descriptor);
    }
    finish_descriptor(channel, descriptor);
    return true;
}

// A receiver takes more when its present descriptor needs more than it has been sent.
bool ProgramInterpreter::receivers_ready(const Channel& channel) const {
    return std::all_of(channel.to.begin(), channel.to.end(), [this](std::size_t stream) {
        const auto receiver =
            std::find_if(channels_.begin(), channels_.end(),
                         [stream](const Channel& other) { return other.from == stream; });
        const auto waiting = static_cast<std::int64_t>(streams_[stream].words.size());
        return receiver->acquired ? waiting < find(*receiver).length : waiting == 0;
    });
}

void ProgramInterpreter::send(const Channel& channel, const program::BufferDescriptor& descriptor) {
    std::vector<std::uint32_t> words;
    if (descriptor.packet) {  // what of the header a receiver out of order looks at
        words.push_back(static_cast<std::uint32_t>(descriptor.packet->descriptor));
    }
    for_each_run(descriptor, [&](std::int64_t offset, std::int64_t count) {
        const std::size_t place = words.size();
        words.resize(place + static_cast<std::size_t>(count));
        const auto bytes = std::as_writable_bytes(std::span{words}.subspan(place));
        if (channel.id.tile.row == 0) {
            const auto buffer = static_cast<std::size_t>(descriptor.buffer);
            store_.read(program_.external_buffers[buffer].address + offset, bytes);
        } else {
            const auto from = memory_.buffer(descriptor.buffer)
                                  .subspan(static_cast<std::size_t>(offset), bytes.size());
            std::copy(from.begin(), from.end(), bytes.begin());
        }
    });
    for (const std::size_t stream : channel.to) {
        streams_[stream].words.insert(streams_[stream].words.end(), words.begin(), words.end());
    }
}

void ProgramInterpreter::receive(const Channel& channel,
                                 const program::BufferDescriptor& descriptor) {
    auto& stream = streams_[*channel.from].words;
    for_each_run(descriptor, [&](std::int64_t offset, std::int64_t count) {
        const std::vector<std::uint32_t> words(stream.begin(), stream.begin() + count);
        stream.erase(stream.begin(), stream.begin() + count);
        const auto bytes = std::as_bytes(std::span{words});
        if (channel.id.tile.row == 0) {
            const auto buffer = static_cast<std::size_t>(descriptor.buffer);
            store_.write(program_.external_buffers[buffer].address + offset, bytes);
        } else {
            std::copy(bytes.begin(), bytes.end(),
                      memory_.buffer(descriptor.buffer).begin() + offset);
        }
    });
    if (on_received && channel.id.tile.row != 0) {
        on_received(channel.id, memory_.buffer(descriptor.buffer));
    }
}

void ProgramInterpreter::finish_descriptor(Channel& channel,
                                           const program::BufferDescriptor& descriptor) {
    if (descriptor.release) {
        locks_[static_cast<std::size_t>(descriptor.release->lock)] += descriptor.release->value;
    }
    channel.acquired = false;
    if (const auto next = channel.task->after(descriptor)) {
        channel.descriptor = *next;
    } else {
        channel.tokens += channel.task->task().token ? 1 : 0;
        channel.task.reset();
    }
}

bool ProgramInterpreter::in_use(program::TileCoordinate tile, std::int64_t descriptor) const {
    return std::any_of(channels_.begin(), channels_.end(), [&](const Channel& channel) {
        return channel.id.tile == tile && ((channel.task && channel.descriptor == descriptor) ||
                                           std::any_of(channel.queue.begin(), channel.queue.end(),
                                                       [&](const program::Task& task) {
                                                           return task.descriptor == descriptor;
                                                       }));
    });
}

bool ProgramInterpreter::step_sequence() {
    if (next_operation_ == program_.sequence.size()) {
        return false;
    }
    const program::SequenceOp& op = program_.sequence[next_operation_];
    if (const auto* wait = std::get_if<program::WaitToken>(&op)) {
        std::int64_t& tokens = channels_[channel_index_.at(wait->channel)].tokens;
        if (tokens == 0) {
            return false;
        }
        --tokens;
    } else {
        execute(op);
    }
    ++next_operation_;
    return true;
}

void ProgramInterpreter::execute(const program::SequenceOp& op) {
    if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
        if (in_use(write->tile, write->descriptor.id)) {
            faults_.push_back(fmt::format("descriptor {} of shim {} is rewritten while in use",
                                          write->descriptor.id, write->tile.column));
        }
        table_[write->tile][write->descriptor.id] = write->descriptor;
    } else if (const auto* push = std::get_if<program::PushTask>(&op)) {
        Channel& channel = channels_[channel_index_.at(push->channel)];
        // An idle channel takes the task at once.
        const auto held = static_cast<std::int64_t>(channel.queue.size()) - (channel.task ? 0 : 1);
        if (held >= config_.dma_of(config_.kind_of(push->channel.tile)).task_queue_depth) {
            faults_.push_back(fmt::format("the queue of channel {} of tile {},{} overflows",
                                          push->channel.index, push->channel.tile.column,
                                          push->channel.tile.row));
        }
        channel.queue.push_back(push->task);
    } else if (const auto* parameter = std::get_if<program::WriteParameter>(&op)) {
        for (Core& core : cores_) {
            if (core.script->tile == parameter->tile) {
                core.parameters[parameter->index] = parameter->value;
            }
        }
    } else if (const auto* lock = std::get_if<program::SetLock>(&op)) {
        locks_[static_cast<std::size_t>(lock->lock)] = lock->value;
    }
}

bool ProgramInterpreter::step(Core& core) {
    while (!core.stack.empty()) {
        Frame& frame = core.stack.back();
        if (frame.next == frame.body->size()) {
            if (--frame.runs_left > 0) {
                frame.next = 0;
            } else {
                core.stack.pop_back();
            }
            continue;
        }
        return execute(core, (*frame.body)[frame.next]);
    }
    return false;
}

bool ProgramInterpreter::execute(Core& core, const program::CoreOp& op) {
    if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op);
        acquire != nullptr && !try_acquire(acquire->action)) {
        return false;
    }
    ++core.stack.back().next;
    if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
        locks_[static_cast<std::size_t>(release->action.lock)] += release->action.value;
    } else if (const auto* operation = std::get_if<program::CallOp>(&op.op)) {
        call(core, *operation);
    } else if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
        const std::int64_t count =
            loop->parameter ? core.parameters[*loop->parameter] : loop->count;
        if (count > 0) {
            core.stack.push_back({&loop->body, 0, count});
        }
    }
    return true;
}

void ProgramInterpreter::call(Core& core, const program::CallOp& op) {
    std::vector<std::span<std::byte>> operands;
    for (const std::int64_t operand : op.operands) {
        const auto rotation = static_cast<std::size_t>(operand);
        const auto& buffers = core.script->rotations[rotation].buffers;
        operands.push_back(memory_.buffer(buffers[core.rotation[rotation] % buffers.size()]));
    }
    on_call(program_.kernels[static_cast<std::size_t>(op.kernel)], core.script->tile, operands);
    for (const std::int64_t rotation : op.advance) {
        ++core.rotation[static_cast<std::size_t>(rotation)];
    }
}

}  // namespace tilesim::workloads::npu::output_stationary
