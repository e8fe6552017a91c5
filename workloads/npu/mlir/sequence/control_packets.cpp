#include "workloads/npu/mlir/sequence/control_packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "arch/base/config.hpp"
#include "arch/npu/control/register_map.hpp"
#include "workloads/npu/mlir/descriptors/descriptor.hpp"
#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"
#include "workloads/npu/mlir/routes/flows.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using descriptors::read_packet;
using descriptors::words_of;
using registers::Registers;
using routes::channel_at;
using routes::is_control_port;
using routes::read_port;
using routes::TilePort;

namespace {

using Channel = program::ChannelId;
using PacketId = std::optional<std::int64_t>;
constexpr std::uint32_t kPacketIdMask = 31;
constexpr std::int64_t kMostTaskRuns = 256;  // of a task

// Packet ids of the tiles of a column where the file states none, from row 0 up.
constexpr std::array<std::int64_t, 6> kControllerIds{15, 26, 27, 29, 30, 31};

class ControlPackets {
  public:
    explicit ControlPackets(Lowering& lowering) : lowering_(lowering) {
        name_tiles();
        for (const program::TileDma& dma : lowering.program.dmas) {
            for (const program::BufferDescriptor& descriptor : dma.descriptors) {
                descriptors_[{dma.tile, descriptor.id}] = descriptor;
            }
        }
        for (const Operation& operation : lowering.body()) {
            if (operation.name == "aie.packet_flow") {
                packet_flow(operation);
            } else if (operation.name == "aie.flow") {
                flow(operation);
            }
        }
    }

    void run() {
        for (program::SequenceOp& operation : std::exchange(lowering_.program.sequence, {})) {
            if (const auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
                descriptors_[{write->tile, write->descriptor.id}] = write->descriptor;
            } else if (const auto* push = std::get_if<program::PushTask>(&operation)) {
                const bool dropped = is_replaced(*push);
                if (push->task.token) {
                    tokens_[push->channel].push_back(dropped);
                }
                if (dropped) {
                    continue;
                }
            } else if (const auto* wait = std::get_if<program::WaitToken>(&operation)) {
                std::deque<bool>& tokens = tokens_[wait->channel];
                const bool dropped = !tokens.empty() && tokens.front();
                if (!tokens.empty()) {
                    tokens.pop_front();
                }
                if (dropped) {
                    continue;
                }
            }
            lowering_.program.sequence.push_back(std::move(operation));
        }
        registers_.finish();
    }

  private:
    void name_tiles() {
        for (const Operation& operation : lowering_.body()) {
            // #aie.packet_info<pkt_type = 0, pkt_id = 4>
            const auto stated = operation.attribute("controller_id");
            if (operation.name == "aie.tile" && stated && operation.results.size() == 1) {
                const Value* tile = lowering_.names.find(operation.results[0]);
                if (tile != nullptr && tile->kind == Value::Kind::Tile) {
                    controllers_[lowering_.tiles[static_cast<std::size_t>(tile->index)]] =
                        read_packet(*stated, operation.where).id;
                }
            }
        }
    }
    TilePort end(Cursor& cursor) const {
        const program::TileCoordinate tile = lowering_.tile(cursor);
        cursor.expect(",");
        return {tile, read_port(cursor)};
    }

    void packet_flow(const Operation& operation) {
        Cursor cursor(operation);
        Cursor number(cursor.group("("));
        const std::int64_t id = number.integer();
        std::vector<TilePort> from, to;
        for (const Operation& each : region_of(operation).blocks.front().operations) {
            if (each.name == "aie.packet_source" || each.name == "aie.packet_dest") {
                Cursor words(each);
                Cursor port(words.group("<"));
                (each.name == "aie.packet_source" ? from : to).push_back(end(port));
            }
        }
        for (const TilePort& source : from) {
            for (const TilePort& destination : to) {
                connect(source, destination, id);
            }
        }
    }
    void flow(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const TilePort source = end(inside);
        inside.expect(",");
        connect(source, end(inside), std::nullopt);
    }
    void connect(const TilePort& source, const TilePort& destination, PacketId id) {
        const auto from = channel_at(lowering_.config, source, program::Direction::MM2S);
        const auto to = channel_at(lowering_.config, destination, program::Direction::S2MM);
        if (from && is_control_port(destination)) {
            ports_[{*from, id}].insert(destination.first);
        } else if (from) {
            others_.insert({*from, id});
        }
        if (to) {
            (is_control_port(source) ? answered_ : fed_).insert(*to);
        }
    }

    // Whether a task's transfer goes to control ports, or takes what only they answer.
    bool is_replaced(const program::PushTask& push) {
        if (push.channel.direction == program::Direction::S2MM) {
            return answered_.contains(push.channel) && !fed_.contains(push.channel);
        }
        const auto place = descriptors_.find({push.channel.tile, push.task.descriptor});
        if (place == descriptors_.end() || push.channel.tile.row != 0) {
            return false;
        }
        const program::BufferDescriptor& descriptor = place->second;
        const bool with_header = !descriptor.packet;  // the stream header is among the words
        const bool any = std::any_of(ports_.begin(), ports_.end(), [&](const auto& port) {
            return port.first.first == push.channel && port.first.second;
        });
        const PacketId id = descriptor.packet ? PacketId{descriptor.packet->id} : std::nullopt;
        constexpr std::int64_t kControlType = 1;  // as the compiler marks them
        const bool marked = descriptor.packet && descriptor.packet->type == kControlType;
        std::set<program::TileCoordinate> tiles = tiles_of(push.channel, id, marked);
        if (tiles.empty() && !(with_header && any && !others_.contains({push.channel, {}}))) {
            return false;
        }
        const std::vector<std::uint32_t> words = words_of(descriptor);
        if (push.task.repeat < 1 || push.task.repeat > kMostTaskRuns) {
            throw ReadError(lowering_.device.where,
                            fmt::format("a transfer of control packets is repeated {} times; a "
                                        "task runs 1..{} times",
                                        push.task.repeat, kMostTaskRuns));
        }
        for (std::int64_t run = 0; run < push.task.repeat; ++run) {
            for (std::size_t at = 0; at < words.size();) {
                if (with_header && !ports_.contains({push.channel, {}})) {
                    const std::uint32_t to = words[at++] & kPacketIdMask;
                    tiles = tiles_of(push.channel, to, true);
                    if (tiles.empty()) {
                        throw ReadError(
                            lowering_.device.where,
                            fmt::format("a packet with id {} leads from tile {},{} to no control "
                                        "port",
                                        to, push.channel.tile.column, push.channel.tile.row));
                    }
                }
                packet(words, at, tiles);
            }
        }
        lowering_.note(
            "transfers of control packets with words of the host are left out, with the answers of "
            "those that read and the waiting for both");
        return true;
    }

    // `marked`: as a control packet; its way need not be stated, the compiler's overlay makes it.
    std::set<program::TileCoordinate> tiles_of(const Channel& channel, PacketId id,
                                               bool marked) const {
        const auto stated = ports_.find({channel, id});
        if (stated != ports_.end()) {
            return stated->second;
        }
        std::set<program::TileCoordinate> tiles;
        const bool overlay = marked && id && !others_.contains({channel, id});
        for (std::int64_t row = 0; overlay && row < lowering_.config.rows(); ++row) {
            const program::TileCoordinate tile{channel.tile.column, row};
            const auto named = controllers_.find(tile);
            const auto index = static_cast<std::size_t>(row);
            const std::int64_t own = named != controllers_.end()     ? named->second
                                     : index < kControllerIds.size() ? kControllerIds[index]
                                                                     : -1;
            if (own == *id) {
                tiles.insert(tile);
            }
        }
        return tiles;
    }

    // The words a transfer takes out of the host's.
    std::vector<std::uint32_t> words_of(const program::BufferDescriptor& descriptor) const {
        const std::string& name =
            lowering_.program.external_buffers[static_cast<std::size_t>(descriptor.buffer)].name;
        const auto place = lowering_.options.words.find(name);
        const Location where = lowering_.device.where;
        if (place == lowering_.options.words.end()) {
            throw ReadError(
                where,
                fmt::format("the sequence sends words of %{0} to control ports: only the host "
                            "has them; state their file as design.words.{0}",
                            name));
        }
        const bool plain = !descriptor.next && !descriptor.iteration &&
                           std::all_of(descriptor.dimensions.begin(), descriptor.dimensions.end(),
                                       [](const program::Dimension& dimension) {
                                           return dimension.size <= 1 || dimension.stride == 1;
                                       });
        if (!plain) {
            throw ReadError(where,
                            "control packets out of a strided, iterated or chained transfer are "
                            "not modelled");
        }
        const std::vector<std::uint32_t>& all = place->second;
        const std::int64_t from = descriptor.offset / kWordBytes;
        const auto most = static_cast<std::int64_t>(all.size());
        if (from < 0 || descriptor.length > most || from > most - descriptor.length) {
            throw ReadError(where, fmt::format("words {}..{} of %{} go to control ports; the file "
                                               "has {}",
                                               from, from + descriptor.length - 1, name, most));
        }
        return {all.begin() + from, all.begin() + from + descriptor.length};
    }

    // Header: opcode << 22 | (words - 1) << 20 | address; opcodes 0 and 2 write, 1 reads.
    void packet(const std::vector<std::uint32_t>& words, std::size_t& at,
                const std::set<program::TileCoordinate>& tiles) {
        constexpr std::uint32_t kAddressMask = 0xFFFFF;
        const std::uint32_t header = at < words.size() ? words[at++] : 0;
        const std::uint32_t opcode = header >> 22 & 3;
        const std::size_t count = (header >> 20 & 3) + 1;
        if (opcode == 1) {
            return;
        }
        if (opcode == 3 || count > words.size() - at) {
            throw ReadError(
                lowering_.device.where,
                fmt::format("control packet {:#010x} has no {} words of data behind it, "
                            "or an opcode that is none",
                            header, count));
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto offset = static_cast<std::int64_t>((header + i * kWordBytes) & kAddressMask);
            for (const program::TileCoordinate& tile : tiles) {
                registers_.write(arch::npu::control::join(tile, offset), words[at + i],
                                 lowering_.device.where);
            }
        }
        at += count;
        lowering_.note(kControlPacketsAct);
    }

    Lowering& lowering_;
    Registers registers_{lowering_};
    std::map<std::pair<Channel, PacketId>, std::set<program::TileCoordinate>> ports_;
    std::set<std::pair<Channel, PacketId>> others_;  // streams that lead to channels
    std::set<Channel> answered_, fed_;               // by control ports, by channels
    std::map<program::TileCoordinate, std::int64_t> controllers_;
    std::map<std::pair<program::TileCoordinate, std::int64_t>, program::BufferDescriptor>
        descriptors_;
    std::map<Channel, std::deque<bool>> tokens_;  // those to come; true: of a replaced task
};

}  // namespace

void apply_control_packets(Lowering& lowering) {
    std::vector<std::string> names;
    for (const program::ExternalBuffer& buffer : lowering.program.external_buffers) {
        names.push_back(buffer.name);
    }
    for (const auto& [name, words] : lowering.options.words) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            throw ReadError(lowering.device.where,
                            fmt::format("design.words: the sequence has no buffer %{}{}", name,
                                        arch::base::config::did_you_mean(name, names)));
        }
    }
    ControlPackets(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir::sequence
