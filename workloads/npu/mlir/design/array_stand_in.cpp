#include "workloads/npu/mlir/design/array_stand_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

namespace {

using Id = std::pair<program::TileCoordinate, std::int64_t>;

constexpr std::int64_t kBlock = 4096;   // words of the stand-in's buffer
constexpr std::int64_t kShortest = 64;  // words beside which a descriptor's boundary is little

// Words of the descriptor that takes or gives `total` over and over: a whole number of times, where
// one of a sensible length does.
std::int64_t block_of(std::int64_t total) {
    if (total > 0 && total <= kBlock) {
        return total;
    }
    for (std::int64_t words = kBlock; words >= kShortest; --words) {
        if (total % words == 0) {
            return words;
        }
    }
    return kBlock;
}

class StandIn {
  public:
    explicit StandIn(Lowering& lowering) : lowering_(lowering), program_(lowering.program) {}

    void run() {
        if (is_set_up()) {
            return;
        }
        for (const program::SequenceOp& op : program_.sequence) {
            if (const auto* write = std::get_if<program::WriteDescriptor>(&op)) {
                written_[{write->tile, write->descriptor.id}] = &write->descriptor;
            } else if (const auto* push = std::get_if<program::PushTask>(&op)) {
                note_task(*push);
            }
        }
        for (const auto& [channel, words] : channels_) {
            connect(channel, words);
        }
        const auto left_out = std::erase_if(program_.sequence,
                                            [this](program::SequenceOp& op) { return !stays(op); });
        if (channels_.empty() && left_out == 0) {
            return;
        }
        lowering_.note(
            "nothing sets the array up behind the shim tiles (what a binary's sequence goes with "
            "is "
            "stated as design.configuration): the sequence's shim transfers alone, which memory "
            "tiles take and give as fast as streams can; headers of packets, writes to "
            "other tiles, and tokens of channels it does not start, are left out");
    }

  private:
    bool is_set_up() const {
        return !program_.routes.empty() || !program_.cores.empty() || !program_.cascades.empty() ||
               std::any_of(program_.dmas.begin(), program_.dmas.end(),
                           [](const program::TileDma& dma) { return !dma.starts.empty(); });
    }

    // The words of the chain, as its descriptors are at this push.
    void note_task(const program::PushTask& push) {
        if (push.channel.tile.row != 0) {
            return;
        }
        std::int64_t& words = channels_[push.channel];
        std::set<std::int64_t> seen;
        std::optional<std::int64_t> id = push.task.descriptor;
        while (id && seen.insert(*id).second) {
            const auto place = written_.find({push.channel.tile, *id});
            if (place == written_.end()) {
                break;
            }
            words += push.task.repeat * place->second->length;
            id = place->second->next;
        }
    }

    void connect(const program::ChannelId& shim, std::int64_t words) {
        const bool sends = shim.direction == program::Direction::MM2S;
        const program::ChannelId other{{shim.tile.column, 1},
                                       sends ? program::Direction::S2MM : program::Direction::MM2S,
                                       shim.index};
        const DmaConfig& dma = lowering_.config.dma_of(lowering_.config.kind_of(other.tile));
        const bool upper = dma.parity_bound_descriptors && shim.index % 2 == 1;
        program::BufferDescriptor descriptor;
        descriptor.id = (upper ? dma.descriptors / 2 : 0) + 2 * shim.index + (sends ? 0 : 1);
        descriptor.next = descriptor.id;
        descriptor.buffer = buffer_of(other.tile);
        descriptor.length = block_of(words);
        program::TileDma& tile = lowering_.dma_of(other.tile);
        tile.descriptors.push_back(descriptor);
        tile.starts.push_back({other.direction, other.index, {descriptor.id}});
        program::Route route;
        route.name = fmt::format("stand_in_{}_{}", shim.tile.column, name_of(shim));
        route.source = sends ? shim : other;
        route.destinations = {sends ? other : shim};
        program_.routes.push_back(std::move(route));
    }

    std::int64_t buffer_of(program::TileCoordinate tile) {
        const std::string name = fmt::format("stand_in_{}", tile.column);
        const auto place =
            std::find_if(program_.buffers.begin(), program_.buffers.end(),
                         [&name](const program::Buffer& each) { return each.name == name; });
        if (place != program_.buffers.end()) {
            return place - program_.buffers.begin();
        }
        std::int64_t address = 0;  // behind what the design declares there
        for (const program::Buffer& each : program_.buffers) {
            if (each.tile == tile) {
                address = std::max(address, each.address + each.bytes);
            }
        }
        program_.buffers.push_back({name, tile, address, kBlock * kWordBytes});
        MemrefType type;
        type.element_bits = kWordBits;
        type.elements = kBlock;
        lowering_.buffer_types.push_back(type);
        return static_cast<std::int64_t>(program_.buffers.size()) - 1;
    }

    bool stays(program::SequenceOp& op) {
        return std::visit(
            [this](auto& each) {
                using Op = std::decay_t<decltype(each)>;
                if constexpr (std::is_same_v<Op, program::WriteDescriptor>) {
                    each.descriptor.packet.reset();
                    return each.tile.row == 0;
                } else if constexpr (std::is_same_v<Op, program::WaitToken>) {
                    return channels_.contains(each.channel);
                } else if constexpr (std::is_same_v<Op, program::PushTask> ||
                                     std::is_same_v<Op, program::WaitIdle> ||
                                     std::is_same_v<Op, program::ResetChannel>) {
                    return each.channel.tile.row == 0;
                } else {
                    return !std::is_same_v<Op, program::ResetCore>;
                }
            },
            op);
    }

    Lowering& lowering_;
    program::Program& program_;
    std::map<Id, const program::BufferDescriptor*> written_;
    std::map<program::ChannelId, std::int64_t> channels_;  // of shims: words its tasks move
};

}  // namespace

void stand_in_for_array(Lowering& lowering) {
    StandIn(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir::design
