#include "workloads/npu/mlir/routes/flows.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "arch/npu/check/script_words.hpp"
#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

namespace {

std::set<program::ChannelId> channels_waited_for(const program::Program& program) {
    std::set<program::ChannelId> channels;
    for (const program::SequenceOp& operation : program.sequence) {
        if (const auto* wait = std::get_if<program::WaitToken>(&operation)) {
            channels.insert(wait->channel);
        }
    }
    return channels;
}

class FlowReader {
  public:
    explicit FlowReader(Lowering& lowering) : lowering_(lowering) {}

    Flows run() {
        for (const Operation& operation : lowering_.body()) {
            lowering_.attempt([this, &operation] {
                if (operation.name == "aie.flow") {
                    circuit(operation);
                } else if (operation.name == "aie.packet_flow") {
                    packet(operation);
                } else if (operation.name == "aiex.multicast") {
                    multicast(operation);
                } else if (operation.name == "aiex.broadcast_packet") {
                    broadcast_packet(operation);
                }
            });
        }
        for (const FifoStream& stream : lowering_.fifo_streams) {
            lowering_.attempt([this, &stream] { of_fifo(stream); });
        }
        for (Flow& flow : flows_.flows) {
            keep_headers_of_cores(flow);
        }
        return std::move(flows_);
    }

  private:
    // A core's port keeps the headers of its packets, a DMA channel's drops them.
    static void keep_headers_of_cores(Flow& flow) {
        if (!flow.packet_id || flow.keep_header) {
            return;
        }
        std::vector<program::ChannelId> channels;
        std::copy_if(
            flow.destinations.begin(), flow.destinations.end(), std::back_inserter(channels),
            [](const program::ChannelId& to) { return to.port != program::PortKind::Core; });
        if (channels.size() < flow.destinations.size()) {
            flow.keep_header = true;
            flow.without_header = std::move(channels);
        }
    }

    // %tile, DMA : 0
    TilePort end(Cursor& cursor) const {
        const program::TileCoordinate tile = lowering_.tile(cursor);
        cursor.expect(",");
        return {tile, read_port(cursor)};
    }

    void left_out(const TilePort& port) {
        if (port.second.bundle == "core") {
            lowering_.note(
                "what kernels exchange over their core's own streams is left out where nothing "
                "says how many words; state it under `stream` of the side file");
            return;
        }
        lowering_.traces |= port.second.bundle == "trace";
        lowering_.note(fmt::format("streams from or to {} ports are left out", port.second.bundle));
    }

    // An end of a stream; notes and nothing for ends that are no channel.
    std::optional<program::ChannelId> channel(const TilePort& port, program::Direction direction) {
        const auto id = channel_at(lowering_.config, port, direction);
        if (!id || !is_used(*id)) {
            left_out(port);
            return std::nullopt;
        }
        return id;
    }

    // Whether anything is known to pass: a core's own ports are its script's.
    bool is_used(const program::ChannelId& id) const {
        return id.port == program::PortKind::Dma || ports_.contains(id);
    }

    static bool is_wire_end(const TilePort& port) {
        const std::string& bundle = port.second.bundle;
        return bundle == "north" || bundle == "south" || bundle == "east" || bundle == "west";
    }

    void circuit(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const TilePort source = end(inside);
        inside.expect(",");
        const TilePort destination = end(inside);
        const auto from = channel_at(lowering_.config, source, program::Direction::MM2S);
        const auto to = channel_at(lowering_.config, destination, program::Direction::S2MM);
        if (from && to) {
            stream_to(*from, *to, std::nullopt, operation.where);
        } else if ((from || is_wire_end(source)) && (to || is_wire_end(destination))) {
            flows_.wires[source].push_back(destination);
        } else {
            left_out(from || is_wire_end(source) ? destination : source);
        }
    }

    void of_fifo(const FifoStream& stream) {
        const std::optional<std::int64_t> id =
            stream.packet ? std::optional{stream.packet->id} : std::nullopt;
        for (const program::ChannelId& end : stream.to) {
            stream_to(stream.from, end, id, lowering_.device.where);
        }
    }

    // Of two cores one may be known to use the stream: the other's part is then missing, and the
    // run will tell.
    void stream_to(const program::ChannelId& from, const program::ChannelId& to,
                   const std::optional<std::int64_t>& packet, Location where) {
        const bool between_cores =
            from.port == program::PortKind::Core && to.port == program::PortKind::Core;
        if (!is_used(from) && waited_.contains(to)) {
            throw ReadError(where,
                            fmt::format("the sequence waits for what core {},{} puts on its own "
                                        "stream, and nothing says how many words; state it under "
                                        "`stream` of the side file, by the function that does",
                                        from.tile.column, from.tile.row));
        }
        if (!is_used(from) || !is_used(to)) {
            left_out({from.tile, {"core", from.index}});
        }
        if ((is_used(from) && is_used(to)) || (between_cores && (is_used(from) || is_used(to)))) {
            add({from, {to}, packet, false, where});
        }
    }

    std::int64_t packet_id(Cursor& cursor) const {
        const Location where = cursor.where();
        const std::int64_t id = cursor.integer();
        if (id < 0 || id >= program::kPacketIds) {
            throw ReadError(where, fmt::format("a packet id must be 0..31, got {}", id));
        }
        return id;
    }

    void packet(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        Flow flow;
        flow.packet_id = packet_id(inside);
        const std::vector<std::int64_t> ids = ids_of_mask(inside, *flow.packet_id);
        flow.keep_header = is_true(operation, "keep_pkt_header");
        flow.where = operation.where;
        std::vector<program::ChannelId> sources;
        bool to_control = false;
        for (const Block& block : region_of(operation).blocks) {
            for (const Operation& each : block.operations) {
                const bool source = each.name == "aie.packet_source";
                if (!source && each.name != "aie.packet_dest") {
                    continue;
                }
                Cursor words(each);
                Cursor port(words.group("<"));
                const TilePort at = end(port);
                to_control |= !source && is_control_port(at);
                const auto id =
                    channel(at, source ? program::Direction::MM2S : program::Direction::S2MM);
                if (id && source) {
                    sources.push_back(*id);
                } else if (id) {
                    flow.destinations.push_back(*id);
                }
            }
        }
        for (const program::ChannelId& source : sources) {
            if (to_control && source.tile.row != 0 &&
                sent_[source.tile].contains(*flow.packet_id)) {
                throw ReadError(operation.where,
                                "control packets (a stream into a tile's control port) that "
                                "another tile sends are not modelled; a shim's are");
            }
            if (flow.destinations.empty()) {
                continue;
            }
            flow.source = source;
            for (const std::int64_t id : sent_of(ids, *flow.packet_id, source)) {
                Flow one = flow;
                one.packet_id = id;
                add(one);
            }
        }
    }

    // (6, mask = 30): of every packet whose id agrees in the bits of the mask (autumn of 2026).
    std::vector<std::int64_t> ids_of_mask(Cursor& inside, std::int64_t stated) const {
        if (!inside.skip(",") || !inside.skip_word("mask")) {
            return {stated};
        }
        inside.expect("=");
        const std::int64_t mask = packet_id(inside);
        std::vector<std::int64_t> ids;
        for (std::int64_t id = 0; id < program::kPacketIds; ++id) {
            if ((id & mask) == (stated & mask)) {
                ids.push_back(id);
            }
        }
        return ids;
    }

    // Those of them that the tile's DMA sends; of a core's own stream, whose headers are told
    // elsewhere, all.
    std::vector<std::int64_t> sent_of(const std::vector<std::int64_t>& ids, std::int64_t stated,
                                      const program::ChannelId& source) {
        std::vector<std::int64_t> sent;
        std::copy_if(ids.begin(), ids.end(), std::back_inserter(sent), [&](std::int64_t id) {
            return source.port == program::PortKind::Core || sent_[source.tile].contains(id);
        });
        return ids.size() == 1 || sent.empty() ? std::vector{stated} : sent;
    }

    // aiex.multicast(%tile, DMA : 0) {aiex.multi_dest<%tile, DMA : 0> ...}
    void multicast(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        if (const auto from = channel(end(inside), program::Direction::MM2S)) {
            add_destinations(region_of(operation),
                             {*from, {}, std::nullopt, false, operation.where});
        }
    }

    // aiex.broadcast_packet(%tile, DMA : 0) {aiex.bp_id(1) {aiex.bp_dest<%tile, DMA : 0> ...} ...}
    void broadcast_packet(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const auto from = channel(end(inside), program::Direction::MM2S);
        for (const Operation& each : region_of(operation).blocks.front().operations) {
            if (from && each.name == "aiex.bp_id") {
                Cursor words(each);
                Cursor number(words.group("("));
                add_destinations(region_of(each),
                                 {*from, {}, packet_id(number), false, operation.where});
            }
        }
    }

    void add_destinations(const Item& region, Flow flow) {
        for (const Operation& each : region.blocks.front().operations) {
            if (each.name == "aiex.multi_dest" || each.name == "aiex.bp_dest") {
                Cursor words(each);
                Cursor port(words.group("<"));
                if (const auto to = channel(end(port), program::Direction::S2MM)) {
                    flow.destinations.push_back(*to);
                }
            }
        }
        if (!flow.destinations.empty()) {
            add(std::move(flow));
        }
    }

    // Flows of one source and packet id are one stream with several receivers.
    void add(Flow flow) {
        for (Flow& other : flows_.flows) {
            if (other.source == flow.source && other.packet_id == flow.packet_id) {
                for (const program::ChannelId& to : flow.destinations) {
                    if (std::find(other.destinations.begin(), other.destinations.end(), to) ==
                        other.destinations.end()) {
                        other.destinations.push_back(to);
                    }
                }
                return;
            }
        }
        flows_.flows.push_back(std::move(flow));
    }

    Lowering& lowering_;
    std::map<program::TileCoordinate, std::set<std::int64_t>> sent_ =
        packet_ids_sent(lowering_.program);
    const std::set<program::ChannelId> ports_ = ports_in_use(lowering_.program);
    const std::set<program::ChannelId> waited_ = channels_waited_for(lowering_.program);
    Flows flows_;
};

}  // namespace

bool is_control_port(const TilePort& port) {
    const std::string& bundle = port.second.bundle;
    return bundle == "tilecontrol" || bundle == "ctrl" || bundle == "control";
}

Port read_port(Cursor& cursor) {
    Port port;
    port.bundle = cursor.word();
    for (char& c : port.bundle) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    cursor.expect(":");
    port.index = cursor.integer();
    return port;
}

std::optional<program::ChannelId> channel_at(const NpuConfig& config, const TilePort& port,
                                             program::Direction direction) {
    const auto& [tile, at] = port;
    const program::TileKind kind = config.kind_of(tile);
    program::ChannelId id{tile, direction, at.index};
    if (at.bundle == "dma") {
        return id;
    }
    if (at.bundle == "core" && kind == program::TileKind::Core) {
        id.port = program::PortKind::Core;
        return id;
    }
    if (at.bundle == "south" && kind == program::TileKind::Shim) {
        for (id.index = 0; id.index < config.shim_dma.channels; ++id.index) {
            if (stream::port_of(id, kind) == at.of_switch()) {
                return id;
            }
        }
    }
    return std::nullopt;
}

std::map<program::TileCoordinate, std::set<std::int64_t>> packet_ids_sent(
    const program::Program& program) {
    std::map<program::TileCoordinate, std::set<std::int64_t>> ids;
    for (const program::TileDma& dma : program.dmas) {
        for (const program::BufferDescriptor& descriptor : dma.descriptors) {
            if (descriptor.packet) {
                ids[dma.tile].insert(descriptor.packet->id);
            }
        }
    }
    for (const program::SequenceOp& operation : program.sequence) {
        if (const auto* write = std::get_if<program::WriteDescriptor>(&operation);
            write != nullptr && write->descriptor.packet) {
            ids[write->tile].insert(write->descriptor.packet->id);
        }
    }
    return ids;
}

Flows read_flows(Lowering& lowering) {
    return FlowReader(lowering).run();
}

std::set<program::ChannelId> ports_in_use(const program::Program& program) {
    std::set<program::ChannelId> ports;
    for (const program::CoreProgram& core : program.cores) {
        for (const auto& [port, words] : arch::npu::check::words_on_ports(core)) {
            ports.insert(port);
        }
    }
    return ports;
}

}  // namespace tilesim::workloads::npu::mlir::routes
