#include "arch/npu/check/transfer_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/check/script_words.hpp"
#include "arch/npu/dma/address_generator.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::check {

namespace {

std::string place_of(const program::ChannelId& id) {
    return fmt::format("tile {},{} {}", id.tile.column, id.tile.row, program::name_of(id));
}

constexpr std::int64_t kNoPacket = -1;

// What a channel moves, of all packets or of one packet id.
struct Moved {
    std::int64_t words = 0;
    std::int64_t packets = 0;
    bool endless = false;            // a chain that leads to itself
    std::int64_t endless_words = 0;  // of one round of it
    std::set<std::int64_t> ends;     // words after which a descriptor ends, for endless ones
};

// Sender, its packet, the descriptor that the header names, and the words behind the header.
using NamedTransfer = std::tuple<program::ChannelId, std::int64_t, std::int64_t, std::int64_t>;

class TransferChecks {
  public:
    TransferChecks(const program::Program& program, const NpuConfig& config)
        : program_(program), config_(config) {}

    TransferFindings run() {
        for (const program::TileDma& dma : program_.dmas) {
            for (const program::BufferDescriptor& descriptor : dma.descriptors) {
                written_[{dma.tile, descriptor.id}] = &descriptor;
            }
        }
        for (const program::TileDma& dma : program_.dmas) {
            for (const program::TileDma::Start& start : dma.starts) {
                count({dma.tile, start.direction, start.channel}, start.task, dma.where);
            }
        }
        walk_sequence();
        for (const program::CoreProgram& core : program_.cores) {
            count_ports(core);
        }
        if (resets_) {
            return std::move(findings_);  // what a reset drops is not known before the run
        }
        for (const auto& [channel, waits] : waits_) {
            if (tokens_[channel] < waits.count) {
                findings_.errors.push_back(
                    place_text(program_, waits.last) +
                    fmt::format("the sequence waits for {} tokens of {}, whose tasks send {}",
                                waits.count, place_of(channel), tokens_[channel]));
            }
        }
        for (const NamedTransfer& sent : named_) {
            check_named(sent);
        }
        for (const auto& [channel, by_packet] : moved_) {
            if (channel.direction == program::Direction::S2MM) {
                compare(channel, total(by_packet));
            } else if (channel.port == program::PortKind::Dma) {
                check_routes_of(channel, by_packet);
            }
        }
        return std::move(findings_);
    }

  private:
    void error(const program::ChannelId& of, const std::string& text) {
        findings_.errors.push_back(place_text(program_, first_task_[of]) + text);
    }
    void warn(const program::ChannelId& of, const std::string& text) {
        findings_.warnings.push_back(place_text(program_, first_task_[of]) + text);
    }

    void walk_sequence() {
        std::map<program::ChannelId, std::int64_t> pushed;  // since the last wait
        std::set<program::ChannelId> warned;
        for (const program::SequenceOp& op : program_.sequence) {
            if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
                written_[{write->tile, write->descriptor.id}] = &write->descriptor;
            } else if (const auto* push = std::get_if<program::PushTask>(&op)) {
                count(push->channel, push->task, push->where);
                const std::int64_t depth =
                    config_.dma_of(config_.kind_of(push->channel.tile)).task_queue_depth;
                // One task runs, the others queue.
                if (++pushed[push->channel] > depth + 1 && warned.insert(push->channel).second) {
                    warn(
                        push->channel,
                        fmt::format(
                            "{}: more than {} tasks are pushed without a wait between; its queue "
                            "holds "
                            "{} behind the one that runs, and a push that finds it full is dropped",
                            place_of(push->channel), depth + 1, depth));
                }
            } else if (const auto* wait = std::get_if<program::WaitToken>(&op)) {
                ++waits_[wait->channel].count;
                waits_[wait->channel].last = wait->where;
                pushed.clear();
            } else if (std::holds_alternative<program::WaitIdle>(op)) {
                pushed.clear();
            } else if (const auto* reset = std::get_if<program::ResetChannel>(&op)) {
                pushed.erase(reset->channel);
                resets_ = true;
            } else if (std::holds_alternative<program::ResetCore>(op)) {
                resets_ = true;
            }
        }
    }

    // `where`: of what starts the task, which may not have a place of its own.
    void count(const program::ChannelId& channel, const program::Task& task,
               base::FilePlace where) {
        tokens_[channel] += task.token ? 1 : 0;
        if (task.out_of_order) {
            out_of_order_.insert(channel);
        }
        first_task_.try_emplace(channel, task.where.line > 0 ? task.where : where);
        const auto chain = program::chain_from(task.descriptor, [&](std::int64_t id) {
            const auto place = written_.find({channel.tile, id});
            return place == written_.end() ? nullptr : place->second;
        });
        if (chain.missing) {
            error(channel,
                  fmt::format("{}: a task leads to descriptor {}, which nobody has written",
                              place_of(channel), *chain.missing));
            return;
        }
        for (const program::BufferDescriptor* descriptor : chain.descriptors) {
            Moved& moved = moved_[channel][descriptor->packet ? descriptor->packet->id : kNoPacket];
            const bool header = descriptor->packet && descriptor->packet->in_data;
            const std::int64_t words = dma::stream_words(*descriptor) - (header ? 1 : 0);
            if (descriptor->packet && !header && channel.direction == program::Direction::MM2S) {
                named_.insert(
                    {channel, descriptor->packet->id, descriptor->packet->descriptor, words});
            }
            if (task.out_of_order) {  // as many packets as come, each as long as its descriptor
                moved.endless = true;
                moved.endless_words = 1;
            } else if (chain.endless()) {
                moved.endless = true;
                moved.endless_words += words;
                moved.ends.insert(moved.endless_words);
            } else {
                moved.words += words * task.repeat;
                moved.packets += task.repeat;
            }
        }
    }

    // A packet for a channel that takes them as they come is as long as the descriptor it names.
    void check_named(const NamedTransfer& sent) {
        const auto& [from, packet, descriptor, words] = sent;
        for (const program::Route& route : program_.routes) {
            if (route.source != from || route.packet_id != packet) {
                continue;
            }
            for (const program::ChannelId& to : route.destinations) {
                const auto place = written_.find({to.tile, descriptor});
                if (!out_of_order_.contains(to) || place == written_.end()) {
                    continue;
                }
                const std::int64_t room = dma::stream_words(*place->second);
                if (room != words) {
                    warn(from, fmt::format("{} sends {} a packet of {} words for descriptor {}, "
                                           "which takes {}",
                                           place_of(from), place_of(to), words, descriptor, room));
                }
            }
        }
    }

    // What a core's script puts on its own streams and gets from them.
    void count_ports(const program::CoreProgram& core) {
        for (const auto& [port, words] : words_on_ports(core)) {
            Moved& moved = moved_[port][kNoPacket];
            moved.words = words.value_or(0);
            moved.endless = !words;
            moved.endless_words = 1;
            // How many of the words are headers depends on where packets end.
            for (const program::Route& route : program_.routes) {
                if (route.source == port && route.packet_id) {
                    Moved& packets = moved_[port][*route.packet_id];
                    packets.endless = true;
                    packets.endless_words = 1;
                }
            }
        }
    }

    static Moved total(const std::map<std::int64_t, Moved>& by_packet) {
        Moved sum;
        for (const auto& [id, moved] : by_packet) {
            sum.words += moved.words;
            sum.endless = sum.endless || moved.endless;
            sum.endless_words += moved.endless_words;
            sum.ends.insert(moved.ends.begin(), moved.ends.end());
        }
        return sum;
    }

    bool shim(const program::ChannelId& channel) const {
        return config_.kind_of(channel.tile) == program::TileKind::Shim;
    }

    // Words every circuit or packet route leads to a receiver.
    void compare(const program::ChannelId& to, const Moved& expected) {
        std::int64_t sent = 0;
        std::int64_t room = 0;  // words that fit between the ends
        std::vector<std::string> senders;
        for (const program::Route& route : program_.routes) {
            const auto place = std::find(route.destinations.begin(), route.destinations.end(), to);
            if (place == route.destinations.end()) {
                continue;
            }
            const auto sender = moved_.find(route.source);
            if (route.source.port == program::PortKind::Core && sender == moved_.end()) {
                return;  // as many words as its kernels write
            }
            senders.push_back(place_of(route.source));
            if (sender == moved_.end()) {
                continue;
            }
            const auto moved = sender->second.find(route.packet_id.value_or(kNoPacket));
            if (moved == sender->second.end()) {
                continue;
            }
            if (moved->second.endless) {
                return;  // as many words as are wanted
            }
            sent += moved->second.words +
                    (program::keeps_header(route, to) ? moved->second.packets : 0);
            room += config_.stream.sink_fifo +
                    config_.stream.hop_latency.count() *
                        stream::hops(route,
                                     static_cast<std::size_t>(place - route.destinations.begin()));
        }
        report(to, expected, sent, senders, room);
    }

    void report(const program::ChannelId& to, const Moved& expected, std::int64_t sent,
                const std::vector<std::string>& senders, std::int64_t room) {
        std::string from;
        for (const std::string& sender : senders) {
            from += (from.empty() ? "" : " and ") + sender;
        }
        if (from.empty()) {
            from = "no route";
        }
        if (expected.endless) {
            const std::int64_t rest =
                sent < expected.words ? 0 : (sent - expected.words) % expected.endless_words;
            if (rest != 0 && !expected.ends.contains(rest)) {
                warn(to,
                     fmt::format("{}: {} sends {} words, which ends in the middle of a descriptor",
                                 place_of(to), from, sent));
            }
            return;
        }
        if (sent == expected.words) {
            return;
        }
        const bool traced =
            senders.empty() &&
            std::find(program_.traced.begin(), program_.traced.end(), to) != program_.traced.end();
        if (traced && !waits_.contains(to)) {
            return;
        }
        const std::string why = traced ? "trace units feed it, which put nothing on streams here"
                                : senders.empty() ? "no route leads there"
                                                  : fmt::format("{} sends {}", from, sent);
        const std::string text = fmt::format("{} expects {} words, {}{}", place_of(to),
                                             expected.words, senders.empty() ? "and " : "", why);
        const bool starves = sent < expected.words;
        // A run that ends with its sequence needs only the transfers the sequence waits for.
        const bool needed = !program_.ends_with_sequence || (starves && waits_.contains(to));
        const bool certain =
            needed && (starves ? shim(to) || sent > 0 : sent - expected.words > room);
        certain ? error(to, text) : warn(to, text);
    }

    // Every packet id a channel sends has a route; what it sends without one, a circuit.
    void check_routes_of(const program::ChannelId& from,
                         const std::map<std::int64_t, Moved>& by_packet) {
        for (const auto& [id, moved] : by_packet) {
            const bool there = std::any_of(program_.routes.begin(), program_.routes.end(),
                                           [&, packet = id](const auto& route) {
                                               return route.source == from &&
                                                      route.packet_id.value_or(kNoPacket) == packet;
                                           });
            if (!there) {
                const bool leaves =
                    std::any_of(program_.routes.begin(), program_.routes.end(),
                                [&](const program::Route& route) { return route.source == from; });
                const std::string text =
                    id < 0 && leaves
                        ? fmt::format(
                              "{}: sends words that are no packet, and its routes take "
                              "packets only",
                              place_of(from))
                    : id < 0
                        ? fmt::format("{}: sends words, but no route leaves it", place_of(from))
                        : fmt::format("{}: sends packet {}, but no route takes that id",
                                      place_of(from), id);
                // Whether it comes to that before the sequence ends, the run tells.
                if (program_.ends_with_sequence) {
                    warn(from, text);
                } else {
                    error(from, text);
                }
            }
        }
    }

    const program::Program& program_;
    const NpuConfig& config_;
    std::map<std::pair<program::TileCoordinate, std::int64_t>, const program::BufferDescriptor*>
        written_;
    std::map<program::ChannelId, std::map<std::int64_t, Moved>> moved_;  // by channel and packet id
    std::map<program::ChannelId, std::int64_t> tokens_;
    std::map<program::ChannelId, base::FilePlace> first_task_;
    struct Waits {
        std::int64_t count = 0;
        base::FilePlace last;
    };
    std::map<program::ChannelId, Waits> waits_;  // for tokens
    std::set<NamedTransfer> named_;
    std::set<program::ChannelId> out_of_order_;  // receivers
    TransferFindings findings_;
    bool resets_ = false;  // the sequence resets a channel or a core
};

}  // namespace

TransferFindings check_transfers(const program::Program& program, const NpuConfig& config) {
    return TransferChecks(program, config).run();
}

}  // namespace tilesim::arch::npu::check
