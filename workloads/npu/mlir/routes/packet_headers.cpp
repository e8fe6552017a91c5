#include "workloads/npu/mlir/routes/packet_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "arch/npu/program/descriptor_chain.hpp"
#include "workloads/npu/mlir/routes/flows.hpp"

namespace tilesim::workloads::npu::mlir::routes {

namespace {

std::string text_of(const program::ChannelId& channel) {
    return fmt::format("tile {},{} {}", channel.tile.column, channel.tile.row,
                       program::name_of(channel));
}

// Descriptors without a packet, by the channel that sends them and in the order it does.
class HeadersInData {
  public:
    HeadersInData(Lowering& lowering, const std::function<Ways(const program::ChannelId&)>& ways)
        : lowering_(lowering), ways_(ways) {}

    void run() {
        collect();
        for (const auto& [channel, descriptors] : sent_) {
            const Ways ways = ways_(channel);
            if (!ways.circuit && !ways.packet_ids.empty()) {
                lowering_.attempt([this, &id = channel, &list = descriptors, &ways] {
                    name(id, list, ways.packet_ids);
                });
            }
        }
    }

  private:
    using Descriptors = std::vector<program::BufferDescriptor*>;

    void collect() {
        for (program::TileDma& dma : lowering_.program.dmas) {
            for (program::BufferDescriptor& descriptor : dma.descriptors) {
                written_[{dma.tile, descriptor.id}] = &descriptor;
            }
        }
        for (const program::TileDma& dma : lowering_.program.dmas) {
            for (const program::TileDma::Start& start : dma.starts) {
                send({dma.tile, start.direction, start.channel}, start.task.descriptor);
            }
        }
        for (program::SequenceOp& operation : lowering_.program.sequence) {
            if (auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
                written_[{write->tile, write->descriptor.id}] = &write->descriptor;
            } else if (const auto* push = std::get_if<program::PushTask>(&operation)) {
                send(push->channel, push->task.descriptor);
            }
        }
    }

    void send(const program::ChannelId& channel, std::int64_t first) {
        if (channel.direction != program::Direction::MM2S) {
            return;
        }
        const auto chain = program::chain_from(first, [&](std::int64_t id) {
            const auto place = written_.find({channel.tile, id});
            return place == written_.end() ? nullptr : place->second;
        });
        for (const program::BufferDescriptor* each : chain.descriptors) {
            program::BufferDescriptor* descriptor = written_.at({channel.tile, each->id});
            if (!descriptor->packet && seen_.insert({channel, descriptor}).second) {
                sent_[channel].push_back(descriptor);
            }
        }
    }

    const std::string& buffer_of(const program::ChannelId& channel,
                                 const program::BufferDescriptor& descriptor) const {
        const auto index = static_cast<std::size_t>(descriptor.buffer);
        return is_shim(channel) ? lowering_.program.external_buffers[index].name
                                : lowering_.program.buffers[index].name;
    }
    bool is_shim(const program::ChannelId& channel) const {
        return lowering_.config.kind_of(channel.tile) == program::TileKind::Shim;
    }

    void name(const program::ChannelId& channel, const Descriptors& descriptors,
              const std::vector<std::int64_t>& ids) {
        const auto forwarded = forwarded_by(channel, ids);
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            const std::string& buffer = buffer_of(channel, *descriptors[i]);
            const auto stated = lowering_.options.headers.find(buffer);
            std::int64_t id = 0;
            if (stated != lowering_.options.headers.end()) {
                id = stated->second;
            } else if (ids.size() == 1) {
                id = assume(channel, ids.front(), "the only one that leaves there");
            } else if (forwarded) {
                id = assume(channel, *forwarded, "the only one of those it passes on that is sent");
            } else if (descriptors.size() == ids.size()) {
                id = assume(channel, ids[i],
                            "each descriptor another of those that leave there, in their order");
            } else {
                throw ReadError(
                    lowering_.device.where,
                    fmt::format("{} sends no packets, and only packets {} leave there: the "
                                "data's first word is the header; state the id in it as "
                                "design.headers.{}",
                                text_of(channel), fmt::join(ids, ", "), buffer));
            }
            descriptors[i]->packet = program::Packet{.id = id, .in_data = true};
        }
    }

    // Of the ids, the one that a DMA elsewhere sends with a header of its own; a shim's data is the
    // host's.
    std::optional<std::int64_t> forwarded_by(const program::ChannelId& channel,
                                             const std::vector<std::int64_t>& ids) const {
        std::set<std::int64_t> found;
        for (const auto& [tile, sent] : packet_ids_sent(lowering_.program)) {
            for (const std::int64_t id : ids) {
                if (tile != channel.tile && sent.contains(id)) {
                    found.insert(id);
                }
            }
        }
        return !is_shim(channel) && found.size() == 1 ? std::optional{*found.begin()}
                                                      : std::nullopt;
    }

    std::int64_t assume(const program::ChannelId& channel, std::int64_t id, const char* why) {
        lowering_.note(
            fmt::format("the header of what {} sends is the first word of its data, taken "
                        "to name packet {}, {}; design.headers states others",
                        text_of(channel), id, why));
        return id;
    }

    Lowering& lowering_;
    const std::function<Ways(const program::ChannelId&)>& ways_;
    std::map<std::pair<program::TileCoordinate, std::int64_t>, program::BufferDescriptor*> written_;
    std::map<program::ChannelId, Descriptors> sent_;
    std::set<std::pair<program::ChannelId, const program::BufferDescriptor*>> seen_;
};

// Calls `visit` for every put of a script on one port, in the order of the text.
void visit_puts(std::vector<program::CoreOp>& script, std::int64_t port,
                const std::function<void(program::PutStreamOp&)>& visit) {
    for (program::CoreOp& op : script) {
        if (auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            visit_puts(loop->body, port, visit);
        } else if (auto* put = std::get_if<program::PutStreamOp>(&op.op);
                   put != nullptr && put->port == port) {
            visit(*put);
        }
    }
}

// aie.put_stream never ends a packet: where no kernel puts any, the first word of all is the only
// header. What a call of a kernel puts is a packet.
void name_packets(Lowering& lowering, program::CoreProgram& core, const program::ChannelId& port) {
    std::vector<std::int64_t> ids;
    for (const program::Route& route : lowering.program.routes) {
        if (route.source == port && route.packet_id) {
            ids.push_back(*route.packet_id);
        }
    }
    std::optional<std::int64_t> under_way;
    visit_puts(core.script, port.index, [&](program::PutStreamOp& put) {
        if (ids.empty()) {
            put.packet.reset();
            put.ends_packet = false;
            return;
        }
        if (under_way && !put.ends_packet) {
            put.packet = under_way;
        } else if (!put.packet && ids.size() != 1) {
            throw ReadError(
                lowering.device.where,
                fmt::format("core {},{} puts packets on its own stream, and packets {} leave "
                            "there: the first word is the header; state the id in it as `packet` "
                            "under `stream` of the side file, by the function that puts it",
                            core.tile.column, core.tile.row, fmt::join(ids, ", ")));
        } else if (!put.packet) {
            put.packet = ids.front();
            lowering.note(
                fmt::format("the header of what core {},{} puts on its own stream is the "
                            "first word of a packet, taken to name packet {}, the only "
                            "one that leaves there",
                            core.tile.column, core.tile.row, ids.front()));
        }
        under_way = put.packet;
    });
}

}  // namespace

void name_headers(Lowering& lowering, const std::function<Ways(const program::ChannelId&)>& ways) {
    HeadersInData(lowering, ways).run();
}

void name_core_packets(Lowering& lowering) {
    for (program::CoreProgram& core : lowering.program.cores) {
        for (std::int64_t port = 0; port < lowering.config.core.stream_outputs; ++port) {
            lowering.attempt([&] {
                name_packets(lowering, core,
                             {core.tile, program::Direction::MM2S, port, program::PortKind::Core});
            });
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::routes
