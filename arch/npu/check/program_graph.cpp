#include "arch/npu/check/program_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "arch/npu/check/marked_graph.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::check {

namespace {

using Frame = MarkedGraph::Frame;
using Node = MarkedGraph::Node;

// Something a round of a frame gives or takes, in order: lock credits or words.
struct Point {
    Node node;
    std::int64_t amount;
    std::int64_t before;  // given or taken earlier in the same round
};

// All the points of one agent on one lock or stream; of use when they lie in one frame.
struct Points {
    std::optional<Frame> frame;
    bool usable = true;
    std::int64_t round = 0;  // amount of a whole round
    std::vector<Point> list;

    void add(Frame in, Node node, std::int64_t amount) {
        usable = usable && (!frame || *frame == in) && amount > 0;
        frame = in;
        list.push_back({node, amount, round});
        round += amount;
    }
};

std::int64_t modulo(std::int64_t a, std::int64_t b) {
    return (a % b + b) % b;
}

std::string tile_agent(program::TileCoordinate tile) {
    return fmt::format("tile({},{})", tile.column, tile.row);
}

class Builder {
  public:
    Builder(const program::Program& program, const NpuConfig& config)
        : program_(program),
          config_(config),
          timing_(config.kernels),
          stream_timing_(config.kernels) {
        locks_.resize(program.locks.size());
        read_sequence();
        for (const program::TileDma& dma : program.dmas) {
            add_dma(dma);
        }
        for (const program::CoreProgram& core : program.cores) {
            add_core(core);
        }
        for (std::size_t i = 0; i < locks_.size(); ++i) {
            add_lock_edges(i);
        }
        add_streams();
        graph_.solve_rates();
    }

    ProgramAnalysis result() const {
        ProgramAnalysis analysis;
        analysis.deadlocks = starved_;
        if (const auto cycle = graph_.stuck_cycle(); !cycle.empty()) {
            analysis.deadlocks.push_back(
                fmt::format("each waits for the next: {}", fmt::join(cycle, " -> ")));
        }
        const Chain* slowest = slowest_channel();
        if (slowest == nullptr) {
            return analysis;
        }
        if (const auto ratio = graph_.period(slowest->frame)) {
            analysis.period =
                PeriodBound{ratio->cycles, slowest->channel, slowest->descriptors, ratio->critical};
        }
        return analysis;
    }

  private:
    struct Ends {  // of a chain's descriptors, or of a core's operations on a port, in words
        Points begins, ends;
    };
    struct Chain {
        program::ChannelId channel;
        Frame frame = 0;
        std::int64_t descriptors = 0;
        bool repeats = false;
        Ends ends;
    };
    struct LockUse {
        std::map<std::string, Points> releases, acquires;  // by agent
        bool usable = true;
    };

    // Whoever is reset may begin again in the middle: nothing follows from its order.
    static bool is_reset(const program::SequenceOp& op) {
        return std::holds_alternative<program::ResetChannel>(op) ||
               std::holds_alternative<program::ResetCore>(op);
    }

    void read_sequence() {
        if (std::any_of(program_.sequence.begin(), program_.sequence.end(), is_reset)) {
            for (auto& lock : locks_) {
                lock.usable = false;
            }
        }
        for (const program::SequenceOp& op : program_.sequence) {
            if (const auto* set = std::get_if<program::SetLock>(&op)) {
                locks_[static_cast<std::size_t>(set->lock)].usable = false;
            } else if (const auto* push = std::get_if<program::PushTask>(&op)) {
                pushed_.insert(push->channel);
            } else if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
                leave_out(write->descriptor);
            } else if (const auto* parameter = std::get_if<program::WriteParameter>(&op)) {
                const auto key = std::pair{parameter->tile, parameter->index};
                const bool again = parameters_.contains(key);
                parameters_[key] = again ? std::nullopt : std::optional{parameter->value};
            }
        }
    }

    void leave_out(const program::BufferDescriptor& descriptor) {
        for (const auto& action : {descriptor.acquire, descriptor.release}) {
            if (action) {
                locks_[static_cast<std::size_t>(action->lock)].usable = false;
            }
        }
    }

    // --- channels ---

    void add_dma(const program::TileDma& dma) {
        std::map<program::ChannelId, std::int64_t> starts;
        for (const program::TileDma::Start& start : dma.starts) {
            ++starts[{dma.tile, start.direction, start.channel}];
        }
        std::set<std::int64_t> used;
        for (const program::TileDma::Start& start : dma.starts) {
            const program::ChannelId channel{dma.tile, start.direction, start.channel};
            const auto chain = program::chain_from(start.task.descriptor, dma);
            const bool whole = !chain.missing && (!chain.endless() || chain.is_ring());
            const bool once = starts[channel] == 1 && !pushed_.contains(channel) && whole &&
                              !start.task.out_of_order;
            for (const program::BufferDescriptor* descriptor : chain.descriptors) {
                if (!once || !used.insert(descriptor->id).second) {
                    leave_out(*descriptor);
                }
            }
            if (once) {
                add_chain(channel, chain.descriptors, chain.endless() || start.task.repeat > 1);
            }
        }
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            if (!used.contains(descriptor.id) &&
                std::any_of(pushed_.begin(), pushed_.end(), [&](const program::ChannelId& each) {
                    return each.tile == dma.tile;
                })) {
                leave_out(descriptor);
            }
        }
    }

    void add_chain(const program::ChannelId& channel,
                   const std::vector<const program::BufferDescriptor*>& chain, bool repeats) {
        const bool receives = channel.direction == program::Direction::S2MM;
        const std::string agent = fmt::format("{}.{}{}", tile_agent(channel.tile),
                                              receives ? "s2mm" : "mm2s", channel.index);
        const double bubble = static_cast<double>(
            config_.dma_of(config_.kind_of(channel.tile)).boundary_bubble.count());
        Chain& entry = chains_[channel];
        entry.channel = channel;
        entry.frame = graph_.add_frame();
        entry.descriptors = static_cast<std::int64_t>(chain.size());
        entry.repeats = repeats;
        std::optional<Node> first;
        std::optional<Node> last;
        for (const program::BufferDescriptor* descriptor : chain) {
            const std::string name = fmt::format("{} descriptor {}", agent, descriptor->id);
            const std::int64_t words = dma::stream_words(*descriptor);
            const Node begin = graph_.add_node(entry.frame, name);
            const Node end = graph_.add_node(entry.frame, name + " done");
            graph_.add_edge(
                begin, end,
                static_cast<double>(words) / static_cast<double>(config_.stream.words_per_cycle()),
                0, true);
            if (last) {
                graph_.add_edge(*last, begin, bubble, 0, true);
            }
            first = first.value_or(begin);
            last = end;
            entry.ends.begins.add(entry.frame, begin, words);
            entry.ends.ends.add(entry.frame, end, words);
            if (descriptor->packet && descriptor->packet->in_data) {
                entry.ends.begins.usable = false;  // its receiver's words are fewer
            }
            use_lock(agent, entry.frame, begin, descriptor->acquire, true);
            use_lock(agent, entry.frame, end, descriptor->release, false);
        }
        if (repeats && last) {
            graph_.add_edge(*last, *first, bubble, 1, false);
        }
    }

    void use_lock(const std::string& agent, Frame frame, Node node,
                  const std::optional<program::LockAction>& action, bool acquire) {
        if (!action) {
            return;
        }
        LockUse& use = locks_[static_cast<std::size_t>(action->lock)];
        if (acquire) {
            use.usable = use.usable && action->value < 0;  // waiting for equality takes nothing
            use.acquires[agent].add(frame, node, -action->value);
        } else {
            use.releases[agent].add(frame, node, action->value);
        }
    }

    // --- cores ---

    void add_core(const program::CoreProgram& core) {
        if (!counts_known(core, core.script)) {
            leave_out(core.script);
            return;
        }
        core_ = &core;
        agent_ = fmt::format("{}.core", tile_agent(core.tile));
        add_body(graph_.add_frame(), core.script, false);
    }

    // A loop's count; nothing when it is a parameter the sequence does not write exactly once.
    std::optional<std::int64_t> count_of(const program::CoreProgram& core,
                                         const program::LoopOp& loop) const {
        if (!loop.parameter) {
            return loop.count;
        }
        const auto place = parameters_.find({core.tile, *loop.parameter});
        return place == parameters_.end() ? std::nullopt : place->second;
    }

    bool counts_known(const program::CoreProgram& core,
                      const std::vector<program::CoreOp>& ops) const {
        return std::all_of(ops.begin(), ops.end(), [&](const program::CoreOp& op) {
            const auto* loop = std::get_if<program::LoopOp>(&op.op);
            return loop == nullptr || (count_of(core, *loop) && counts_known(core, loop->body));
        });
    }

    void leave_out(const std::vector<program::CoreOp>& ops) {
        for (const program::CoreOp& op : ops) {
            if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
                locks_[static_cast<std::size_t>(acquire->action.lock)].usable = false;
            } else if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
                locks_[static_cast<std::size_t>(release->action.lock)].usable = false;
            } else if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                leave_out(loop->body);
            }
        }
    }

    // The end of what has been added of a block: what follows comes `time` later. `rounds`: of the
    // frame the node lies in, in one of the block's.
    struct Tail {
        Node node;
        double time = 0;
        double rounds = 1;
    };
    struct Body {
        Node begin, end;
        bool ends = true;  // false: it holds a loop without end
        double busy = 0;   // time of a round at least
    };

    // Round g of a frame that runs n times in each round of another lies in round floor(g / n) of
    // that one; round f of that one is over with round f n + n - 1 of the inner one.
    void follow(const Tail& tail, Node node, double rounds) {
        const double entered = (rounds - 1) / rounds * tail.rounds;
        graph_.add_edge(tail.node, node, tail.time, entered - (tail.rounds - 1), true);
    }

    // Adds a block of a script, executed round after round.
    Body add_body(Frame frame, const std::vector<program::CoreOp>& ops, bool repeats) {
        Body body;
        body.begin = graph_.add_node(frame, agent_ + " loop");
        Tail tail{body.begin};
        Tail own{body.begin};  // the last node of this very frame
        const auto append = [&](Node node) {
            follow(tail, node, 1);
            if (own.node != tail.node) {
                graph_.add_edge(own.node, node, own.time, 0, true);
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
            const Frame inner = graph_.add_frame();
            const Body nested = add_body(inner, loop->body, count != 1 || repeats);
            const double rounds = count < 0 ? 1.0 : static_cast<double>(count);
            follow(tail, nested.begin, rounds);
            if (count < 0 || !nested.ends) {
                body.ends = false;
                return body;
            }
            graph_.relate(inner, 1, frame, rounds);
            body.busy += rounds * nested.busy;
            own.time += rounds * nested.busy;
            tail = {nested.end, 0, rounds};
        }
        body.end = graph_.add_node(frame, agent_ + " loop end");
        append(body.end);
        if (repeats) {
            graph_.add_edge(body.end, body.begin, 0, 1, false);
        }
        return body;
    }

    struct Operation {
        Node first;
        Tail last;
        double busy;  // from its first node to the next operation's at least
    };
    Operation add_op(Frame frame, const program::CoreOp& op) {
        const auto cycles = [](base::Cycles time) { return static_cast<double>(time.count()); };
        const CoreConfig& core = config_.core;
        if (const auto* acquire = std::get_if<program::AcquireOp>(&op.op)) {
            const Node node = graph_.add_node(frame, agent_ + " acquires " + lock_name(*acquire));
            use_lock(agent_, frame, node, acquire->action, true);
            const double time = cycles(std::min(core.lock_cycles, core.lock_wake));
            return {node, {node, time}, time};
        }
        if (const auto* release = std::get_if<program::ReleaseOp>(&op.op)) {
            // It takes effect when it is over.
            const Node begin = graph_.add_node(frame, agent_ + " releases " + lock_name(*release));
            const Node end =
                graph_.add_node(frame, agent_ + " has released " + lock_name(*release));
            graph_.add_edge(begin, end, cycles(core.lock_cycles), 0, true);
            use_lock(agent_, frame, end, release->action, false);
            return {begin, {end, 0}, cycles(core.lock_cycles)};
        }
        if (const auto* call = std::get_if<program::CallOp>(&op.op)) {
            const program::Kernel& kernel =
                program_.kernels[static_cast<std::size_t>(call->kernel)];
            const Node node = graph_.add_node(frame, agent_ + " calls " + kernel.name);
            const base::Cycles time = kernel.cycles ? base::Cycles{*kernel.cycles}
                                      : kernel.kind == program::KernelKind::Stream
                                          ? stream_timing_.cycles(kernel).total()
                                          : timing_.cycles(kernel).total();
            if (kernel.kind == program::KernelKind::Stream) {
                ports_[core_port(program::Direction::S2MM, 1)].begins.usable = false;
                ports_[core_port(program::Direction::MM2S, 0)].begins.usable = false;
            }
            const double taken = cycles(time + core.call_cycles);
            return {node, {node, taken}, taken};
        }
        if (const auto* put = std::get_if<program::PutCascadeOp>(&op.op)) {
            return add_words(frame, "puts on the cascade", put->words, 1, puts_[core_->tile], 0);
        }
        if (const auto* get = std::get_if<program::GetCascadeOp>(&op.op)) {
            return add_words(frame, "gets from the cascade", get->words, 1, gets_[core_->tile],
                             cycles(config_.cascade.read_latency) - 1);
        }
        if (const auto* sent = std::get_if<program::PutStreamOp>(&op.op)) {
            return add_words(frame, "puts on its stream", sent->words,
                             config_.stream.words_per_cycle(),
                             ports_[core_port(program::Direction::MM2S, sent->port)], 0);
        }
        const auto& read = std::get<program::GetStreamOp>(op.op);
        return add_words(frame, "gets from its stream", read.words,
                         config_.stream.words_per_cycle(),
                         ports_[core_port(program::Direction::S2MM, read.port)],
                         cycles(config_.core.stream_read_latency) - 1);
    }

    program::ChannelId core_port(program::Direction direction, std::int64_t index) const {
        return {core_->tile, direction, index, program::PortKind::Core};
    }

    Operation add_words(Frame frame, const char* what, std::int64_t words,
                        std::int64_t words_per_cycle, Ends& ends, double latency) {
        const Node begin = graph_.add_node(frame, fmt::format("{} {}", agent_, what));
        const Node end = graph_.add_node(frame, fmt::format("{} {}, done", agent_, what));
        const double time = static_cast<double>(words) / static_cast<double>(words_per_cycle);
        graph_.add_edge(begin, end, time, 0, true);
        ends.begins.add(frame, begin, words);
        ends.ends.add(frame, end, words);
        return {begin, {end, latency}, time + latency};
    }

    template <class Op>
    const std::string& lock_name(const Op& op) const {
        return program_.locks[static_cast<std::size_t>(op.action.lock)].name;
    }

    // --- edges between agents ---

    // Happenings of `to` need those of `from` because what they take, in order, less `initially`
    // there, must have been given. `from` gives at its points' nodes, `each` cycles after the one
    // before.
    void add_edges(const Points& from, const Points& to, std::int64_t initially, double each) {
        const std::int64_t p = from.round;
        const std::int64_t g = std::gcd(p, to.round);
        graph_.relate(*from.frame, static_cast<double>(p), *to.frame,
                      static_cast<double>(to.round));
        for (const Point& take : to.list) {
            for (const Point& give : from.list) {
                // In round n of its frame, n R + a + 1 more than earlier gives of the round are
                // needed: round floor((n R + a) / p) of the giver must have come to this point.
                const std::int64_t a = take.before + take.amount - initially - give.before - 1;
                const double tokens =
                    static_cast<double>(p - g + modulo(a, g) - a) / static_cast<double>(p);
                const double time =
                    each * static_cast<double>(std::min(modulo(a, g) + 1, give.amount));
                graph_.add_edge(give.node, take.node, time, tokens, a >= 0);
            }
        }
    }

    void add_lock_edges(std::size_t index) {
        const LockUse& use = locks_[index];
        const program::Lock& lock = program_.locks[index];
        if (!use.usable) {
            return;
        }
        for (const auto& [agent, points] : use.acquires) {
            if (use.releases.empty() && points.list[0].amount > lock.initial) {
                starved_.push_back(fmt::format(
                    "{} waits for lock {} >= {}, which starts at {} and which nobody releases",
                    agent, lock.name, points.list[0].amount, lock.initial));
            }
        }
        if (use.acquires.size() == 1 && use.releases.size() == 1) {
            const Points& releases = use.releases.begin()->second;
            const Points& acquires = use.acquires.begin()->second;
            if (releases.usable && acquires.usable) {
                add_edges(releases, acquires, lock.initial, 0);
            }
        }
    }

    // A receiver is done when its words have been sent; a sender when its words have been taken or
    // fit in between.
    void add_stream(const Ends& sender, const Ends& receiver, std::int64_t room,
                    std::int64_t words_per_cycle) {
        if (sender.begins.frame && receiver.begins.frame && sender.begins.usable &&
            receiver.begins.usable) {
            add_edges(sender.begins, receiver.ends, 0, 1 / static_cast<double>(words_per_cycle));
            add_edges(receiver.begins, sender.ends, room, 0);
        }
    }

    const Ends* ends_at(const program::ChannelId& id) const {
        if (id.port == program::PortKind::Core) {
            const auto port = ports_.find(id);
            return port == ports_.end() ? nullptr : &port->second;
        }
        const auto chain = chains_.find(id);
        return chain == chains_.end() ? nullptr : &chain->second.ends;
    }

    // The headers are among the words its core puts.
    static bool is_of_core_packets(const program::Route& route) {
        return route.packet_id && route.source.port == program::PortKind::Core;
    }

    void add_streams() {
        std::map<program::ChannelId, int> senders;  // of a receiver
        for (const program::Route& route : program_.routes) {
            for (const program::ChannelId& to : route.destinations) {
                ++senders[to];
            }
        }
        std::map<program::ChannelId, int> routes;  // of a sender
        for (const program::Route& route : program_.routes) {
            ++routes[route.source];
        }
        for (const program::Route& route : program_.routes) {
            for (std::size_t i = 0; i < route.destinations.size(); ++i) {
                const Ends* from = ends_at(route.source);
                const Ends* to = ends_at(route.destinations[i]);
                const std::int64_t room =
                    config_.stream.sink_fifo + config_.stream.hop_latency.count() *
                                                   config_.stream.words_per_cycle() *
                                                   stream::hops(route, i);
                if (from != nullptr && to != nullptr && !route.keep_header &&
                    !is_of_core_packets(route) && routes[route.source] == 1 &&
                    senders[route.destinations[i]] == 1) {
                    add_stream(*from, *to, room, config_.stream.words_per_cycle());
                }
            }
        }
        for (const program::Cascade& cascade : program_.cascades) {
            add_stream(puts_[cascade.from], gets_[cascade.to], 2 * config_.cascade.fifo + 1, 1);
        }
    }

    // The slowest channel of the part with the most nodes, of those that repeat.
    const Chain* slowest_channel() const {
        const Chain* slowest = nullptr;
        std::size_t most = 0;
        for (const auto& [id, chain] : chains_) {
            if (!chain.repeats) {
                continue;
            }
            const std::size_t nodes = graph_.nodes_with(chain.frame);
            const bool slower =
                slowest == nullptr || nodes > most ||
                (nodes == most && graph_.connected(chain.frame, slowest->frame) &&
                 graph_.rate(chain.frame) < graph_.rate(slowest->frame) * (1 - 1e-9));
            if (slower) {
                slowest = &chain;
                most = nodes;
            }
        }
        return slowest;
    }

    const program::Program& program_;
    const NpuConfig& config_;
    core::KernelTiming timing_;
    core::StreamKernelTiming stream_timing_;
    MarkedGraph graph_;
    std::vector<LockUse> locks_;  // as Program::locks
    std::map<program::ChannelId, Chain> chains_;
    std::map<program::TileCoordinate, Ends> puts_, gets_;  // on cascades
    std::map<program::ChannelId, Ends> ports_;             // of cores' own streams
    std::set<program::ChannelId> pushed_;                  // channels the sequence starts
    std::map<std::pair<program::TileCoordinate, std::int64_t>, std::optional<std::int64_t>>
        parameters_;
    std::vector<std::string> starved_;
    const program::CoreProgram* core_ = nullptr;  // whose script is being added
    std::string agent_;
};

}  // namespace

ProgramAnalysis analyse(const program::Program& program, const NpuConfig& config) {
    return Builder(program, config).result();
}

}  // namespace tilesim::arch::npu::check
