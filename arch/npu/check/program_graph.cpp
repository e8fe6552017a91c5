#include "arch/npu/check/program_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "arch/npu/check/core_frames.hpp"
#include "arch/npu/check/graph_parts.hpp"
#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::check {

namespace {

using Frame = MarkedGraph::Frame;
using Node = MarkedGraph::Node;

class Builder {
  public:
    Builder(const program::Program& program, const NpuConfig& config)
        : program_(program), config_(config), parts_(program) {
        read_sequence();
        for (const program::TileDma& dma : program.dmas) {
            add_dma(dma);
        }
        CoreFrames cores(program, config, parameters_, parts_);
        for (const program::CoreProgram& core : program.cores) {
            cores.add(core);
        }
        for (std::size_t i = 0; i < parts_.locks.size(); ++i) {
            add_lock_edges(i);
        }
        add_streams();
        parts_.graph.solve_rates();
    }

    ProgramAnalysis result() const {
        ProgramAnalysis analysis;
        analysis.deadlocks = starved_;
        if (const auto cycle = parts_.graph.stuck_cycle(); !cycle.empty()) {
            analysis.deadlocks.push_back(
                fmt::format("each waits for the next: {}", fmt::join(cycle, " -> ")));
        }
        const Chain* slowest = slowest_channel();
        if (slowest == nullptr) {
            return analysis;
        }
        if (const auto ratio = parts_.graph.period(slowest->frame)) {
            analysis.period =
                PeriodBound{ratio->cycles, slowest->channel, slowest->descriptors, ratio->critical};
        }
        return analysis;
    }

  private:
    struct Chain {
        program::ChannelId channel;
        Frame frame = 0;
        std::int64_t descriptors = 0;
        bool repeats = false;
        Ends ends;
    };

    // Whoever is reset may begin again in the middle: nothing follows from its order.
    static bool is_reset(const program::SequenceOp& op) {
        return std::holds_alternative<program::ResetChannel>(op) ||
               std::holds_alternative<program::ResetCore>(op);
    }

    void read_sequence() {
        for (const program::CoreProgram& core : program_.cores) {
            for (std::size_t i = 0; i < core.parameters.size(); ++i) {
                parameters_[{core.tile, static_cast<std::int64_t>(i)}] = core.parameters[i];
            }
        }
        if (std::any_of(program_.sequence.begin(), program_.sequence.end(), is_reset)) {
            for (auto& lock : parts_.locks) {
                lock.usable = false;
            }
        }
        for (const program::SequenceOp& op : program_.sequence) {
            if (const auto* set = std::get_if<program::SetLock>(&op)) {
                parts_.locks[static_cast<std::size_t>(set->lock)].usable = false;
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
        parts_.leave_out(descriptor.acquire);
        parts_.leave_out(descriptor.release);
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
        entry.frame = parts_.graph.add_frame();
        entry.descriptors = static_cast<std::int64_t>(chain.size());
        entry.repeats = repeats;
        std::optional<Node> first;
        std::optional<Node> last;
        for (const program::BufferDescriptor* descriptor : chain) {
            const std::string name = fmt::format("{} descriptor {}", agent, descriptor->id);
            const std::int64_t words = dma::stream_words(*descriptor);
            const Node begin = parts_.graph.add_node(entry.frame, name);
            const Node end = parts_.graph.add_node(entry.frame, name + " done");
            parts_.graph.add_edge(
                begin, end,
                static_cast<double>(words) / static_cast<double>(config_.stream.words_per_cycle()),
                0, true);
            if (last) {
                parts_.graph.add_edge(*last, begin, bubble, 0, true);
            }
            first = first.value_or(begin);
            last = end;
            entry.ends.begins.add(entry.frame, begin, words);
            entry.ends.ends.add(entry.frame, end, words);
            if (descriptor->packet && descriptor->packet->in_data) {
                entry.ends.begins.usable = false;  // its receiver's words are fewer
            }
            parts_.use_lock(agent, entry.frame, begin, descriptor->acquire, true);
            parts_.use_lock(agent, entry.frame, end, descriptor->release, false);
        }
        if (repeats && last) {
            parts_.graph.add_edge(*last, *first, bubble, 1, false);
        }
    }

    // --- edges between agents ---

    void add_lock_edges(std::size_t index) {
        const LockUse& use = parts_.locks[index];
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
                parts_.add_edges(releases, acquires, lock.initial, 0);
            }
        }
    }

    // A receiver is done when its words have been sent; a sender when its words have been taken or
    // fit in between.
    void add_stream(const Ends& sender, const Ends& receiver, std::int64_t room,
                    std::int64_t words_per_cycle) {
        if (sender.begins.frame && receiver.begins.frame && sender.begins.usable &&
            receiver.begins.usable) {
            parts_.add_edges(sender.begins, receiver.ends, 0,
                             1 / static_cast<double>(words_per_cycle));
            parts_.add_edges(receiver.begins, sender.ends, room, 0);
        }
    }

    const Ends* ends_at(const program::ChannelId& id) const {
        if (id.port == program::PortKind::Core) {
            const auto port = parts_.ports.find(id);
            return port == parts_.ports.end() ? nullptr : &port->second;
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
            add_stream(parts_.puts[cascade.from], parts_.gets[cascade.to],
                       2 * config_.cascade.fifo + 1, 1);
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
            const std::size_t nodes = parts_.graph.nodes_with(chain.frame);
            const bool slower =
                slowest == nullptr || nodes > most ||
                (nodes == most && parts_.graph.connected(chain.frame, slowest->frame) &&
                 parts_.graph.rate(chain.frame) < parts_.graph.rate(slowest->frame) * (1 - 1e-9));
            if (slower) {
                slowest = &chain;
                most = nodes;
            }
        }
        return slowest;
    }

    const program::Program& program_;
    const NpuConfig& config_;
    GraphParts parts_;
    std::map<program::ChannelId, Chain> chains_;
    std::set<program::ChannelId> pushed_;  // channels the sequence starts
    CoreFrames::Parameters parameters_;
    std::vector<std::string> starved_;
};

}  // namespace

ProgramAnalysis analyse(const program::Program& program, const NpuConfig& config) {
    return Builder(program, config).result();
}

}  // namespace tilesim::arch::npu::check
