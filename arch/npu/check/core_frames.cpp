#include "arch/npu/check/core_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace tilesim::arch::npu::check {

void CoreFrames::add(const program::CoreProgram& core) {
    if (!counts_known(core, core.script)) {
        leave_out(core.script);
        return;
    }
    core_ = &core;
    agent_ = fmt::format("{}.core", tile_agent(core.tile));
    add_body(parts_.graph.add_frame(), core.script, false);
}

// A loop's count; nothing when it is a parameter that does not have exactly one.
std::optional<std::int64_t> CoreFrames::count_of(const program::CoreProgram& core,
                                                 const program::LoopOp& loop) const {
    if (!loop.parameter) {
        return loop.count;
    }
    const auto place = parameters_.find({core.tile, *loop.parameter});
    return place == parameters_.end() ? std::nullopt : place->second;
}

bool CoreFrames::counts_known(const program::CoreProgram& core,
                              const std::vector<program::CoreOp>& ops) const {
    return std::all_of(ops.begin(), ops.end(), [&](const program::CoreOp& op) {
        const auto* loop = std::get_if<program::LoopOp>(&op.op);
        return loop == nullptr || (count_of(core, *loop) && counts_known(core, loop->body));
    });
}

void CoreFrames::leave_out(const std::vector<program::CoreOp>& ops) {
    for (const program::CoreOp& op : ops) {
        if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
            parts_.leave_out(acquire->action);
        } else if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
            parts_.leave_out(release->action);
        } else if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            leave_out(loop->body);
        }
    }
}

// Round g of a frame that runs n times in each round of another lies in round floor(g / n) of
// that one; round f of that one is over with round f n + n - 1 of the inner one.
void CoreFrames::follow(const Tail& tail, Node node, double rounds) {
    const double entered = (rounds - 1) / rounds * tail.rounds;
    parts_.graph.add_edge(tail.node, node, tail.time, entered - (tail.rounds - 1), true);
}

// Adds a block of a script, executed round after round.
CoreFrames::Body CoreFrames::add_body(Frame frame, const std::vector<program::CoreOp>& ops,
                                      bool repeats) {
    Body body;
    body.begin = parts_.graph.add_node(frame, agent_ + " loop");
    Tail tail{body.begin};
    Tail own{body.begin};  // the last node of this very frame
    const auto append = [&](Node node) {
        follow(tail, node, 1);
        if (own.node != tail.node) {
            parts_.graph.add_edge(own.node, node, own.time, 0, true);
        }
    };
    for (const program::CoreOp& op : ops) {
        const auto* loop = std::get_if<program::LoopOp>(&op.op);
        if (loop == nullptr) {
            const Operation added = add_op(frame, op);
            append(added.first);
            body.busy += added.busy;
            tail = own = added.last;
            continue;
        }
        const std::int64_t count = *count_of(*core_, *loop);
        if (count == 0) {
            continue;
        }
        const Frame inner = parts_.graph.add_frame();
        const Body nested = add_body(inner, loop->body, count != 1 || repeats);
        const double rounds = count < 0 ? 1.0 : static_cast<double>(count);
        follow(tail, nested.begin, rounds);
        if (count < 0 || !nested.ends) {
            body.ends = false;
            return body;
        }
        parts_.graph.relate(inner, 1, frame, rounds);
        body.busy += rounds * nested.busy;
        own.time += rounds * nested.busy;
        tail = {nested.end, 0, rounds};
    }
    body.end = parts_.graph.add_node(frame, agent_ + " loop end");
    append(body.end);
    if (repeats) {
        parts_.graph.add_edge(body.end, body.begin, 0, 1, false);
    }
    return body;
}

CoreFrames::Operation CoreFrames::add_op(Frame frame, const program::CoreOp& op) {
    const auto cycles = [](base::Cycles time) { return static_cast<double>(time.count()); };
    const CoreConfig& core = config_.core;
    if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
        const Node node =
            parts_.graph.add_node(frame, agent_ + " acquires " + lock_name(acquire->action));
        parts_.use_lock(agent_, frame, node, acquire->action, true);
        const double time = cycles(std::min(core.lock_cycles, core.lock_wake));
        return {node, {node, time}, time};
    }
    if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
        // It takes effect when it is over.
        const Node begin =
            parts_.graph.add_node(frame, agent_ + " releases " + lock_name(release->action));
        const Node end =
            parts_.graph.add_node(frame, agent_ + " has released " + lock_name(release->action));
        parts_.graph.add_edge(begin, end, cycles(core.lock_cycles), 0, true);
        parts_.use_lock(agent_, frame, end, release->action, false);
        return {begin, {end, 0}, cycles(core.lock_cycles)};
    }
    if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
        const program::Kernel& kernel = program_.kernels[static_cast<std::size_t>(call->kernel)];
        const Node node = parts_.graph.add_node(frame, agent_ + " calls " + kernel.name);
        const base::Cycles time = kernel.cycles ? base::Cycles{*kernel.cycles}
                                  : kernel.kind == program::KernelKind::Stream
                                      ? stream_timing_.cycles(kernel).total()
                                      : timing_.cycles(kernel).total();
        if (kernel.kind == program::KernelKind::Stream) {
            parts_.ports[core_port(program::Direction::S2MM, 1)].begins.usable = false;
            parts_.ports[core_port(program::Direction::MM2S, 0)].begins.usable = false;
        }
        const double taken = cycles(time + core.call_cycles);
        return {node, {node, taken}, taken};
    }
    if (const auto* put = std::get_if<program::PutCascadeOp>(&op.op)) {
        return add_words(frame, "puts on the cascade", put->words, 1, parts_.puts[core_->tile], 0);
    }
    if (const auto* get = std::get_if<program::GetCascadeOp>(&op.op)) {
        return add_words(frame, "gets from the cascade", get->words, 1, parts_.gets[core_->tile],
                         cycles(config_.cascade.read_latency) - 1);
    }
    if (const auto* sent = std::get_if<program::PutStreamOp>(&op.op)) {
        return add_words(frame, "puts on its stream", sent->words, config_.stream.words_per_cycle(),
                         parts_.ports[core_port(program::Direction::MM2S, sent->port)], 0);
    }
    const auto& read = std::get<program::GetStreamOp>(op.op);
    return add_words(frame, "gets from its stream", read.words, config_.stream.words_per_cycle(),
                     parts_.ports[core_port(program::Direction::S2MM, read.port)],
                     cycles(config_.core.stream_read_latency) - 1);
}

program::ChannelId CoreFrames::core_port(program::Direction direction, std::int64_t index) const {
    return {core_->tile, direction, index, program::PortKind::Core};
}

CoreFrames::Operation CoreFrames::add_words(Frame frame, const char* what, std::int64_t words,
                                            std::int64_t words_per_cycle, Ends& ends,
                                            double latency) {
    const Node begin = parts_.graph.add_node(frame, fmt::format("{} {}", agent_, what));
    const Node end = parts_.graph.add_node(frame, fmt::format("{} {}, done", agent_, what));
    const double time = static_cast<double>(words) / static_cast<double>(words_per_cycle);
    parts_.graph.add_edge(begin, end, time, 0, true);
    ends.begins.add(frame, begin, words);
    ends.ends.add(frame, end, words);
    return {begin, {end, latency}, time + latency};
}

const std::string& CoreFrames::lock_name(const program::LockAction& action) const {
    return program_.locks[static_cast<std::size_t>(action.lock)].name;
}

}  // namespace tilesim::arch::npu::check
