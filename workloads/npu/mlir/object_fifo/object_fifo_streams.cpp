// The DMA side of object FIFOs: channels, rings of descriptors, streams, allocations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/mlir/chosen_sequence.hpp"
#include "workloads/npu/mlir/descriptors/descriptor.hpp"
#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/descriptors/transfer.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo/fifo_packets.hpp"
#include "workloads/npu/mlir/object_fifo/object_fifos.hpp"
#include "workloads/npu/mlir/routes/flows.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

using descriptors::DescriptorIds;
using descriptors::read_layout;
using descriptors::read_padding;
using descriptors::set_transfer;
using descriptors::Transfer;
using descriptors::words_of;
using routes::channel_at;
using routes::read_port;

namespace {

// One descriptor of a ring: a piece of an element.
struct Piece {
    std::size_t element = 0;
    std::int64_t offset = 0;  // elements of the memref
    std::int64_t length = 0;
    std::size_t locks = 0;                          // pair of the pool
    const std::vector<Item>* dimensions = nullptr;  // of a segment, where stated
    const std::vector<Item>* padding = nullptr;
    std::optional<std::size_t> to{};  // the FIFO whose turn it is, where several take turns
};

class FifoStreams {
  public:
    explicit FifoStreams(Lowering& lowering) : lowering_(lowering), ids_(lowering) {
        for (const program::TileDma& dma : lowering.program.dmas) {
            for (const program::BufferDescriptor& descriptor : dma.descriptors) {
                ids_.take(dma.tile, descriptor.id);
            }
            for (const program::TileDma::Start& start : dma.starts) {
                taken_.insert({dma.tile, start.direction, start.channel});
            }
        }
        for (const auto& [name, channel] : lowering.allocations) {
            taken_.insert(channel);
        }
        take_stated_flows();
    }

    void run() {
        lowering_.attempt([&] { leave_out_unused(); });
        lowering_.attempt([&] { choose_packet_ids(lowering_); });
        for (ObjectFifo& fifo : lowering_.fifos) {
            lowering_.attempt([&] { pin(fifo); });
        }
        for (ObjectFifo& fifo : lowering_.fifos) {
            lowering_.attempt([&] { reach_neighbours(fifo); });
        }
        for (ObjectFifo& fifo : lowering_.fifos) {
            lowering_.attempt([&] { channels(fifo); });
        }
        if (!lowering_.errors.empty()) {
            return;
        }
        for (ObjectFifo& fifo : lowering_.fifos) {
            lowering_.attempt([&] { transfers(fifo); });
        }
    }

  private:
    // Channels that flows beside the FIFOs name.
    void take_stated_flows() {
        for (const Operation& operation : lowering_.body()) {
            if (operation.name != "aie.flow" && operation.name != "aie.packet_flow") {
                continue;
            }
            lowering_.attempt([&] {
                if (operation.name == "aie.flow") {
                    Cursor cursor(operation);
                    Cursor inside(cursor.group("("));
                    take(inside, program::Direction::MM2S);
                    inside.expect(",");
                    take(inside, program::Direction::S2MM);
                    return;
                }
                walk(region_of(operation), [&](const Operation& each) {
                    if (each.name == "aie.packet_source" || each.name == "aie.packet_dest") {
                        Cursor words(each);
                        Cursor port(words.group("<"));
                        take(port, each.name == "aie.packet_source" ? program::Direction::MM2S
                                                                    : program::Direction::S2MM);
                    }
                });
            });
        }
    }
    void take(Cursor& cursor, program::Direction direction) {
        const program::TileCoordinate tile = lowering_.tile(cursor);
        cursor.expect(",");
        const auto id = channel_at(lowering_.config, {tile, read_port(cursor)}, direction);
        if (id) {
            taken_.insert(*id);
        }
    }

    static bool is_connected(const ObjectFifo& fifo) { return fifo.dma && !fifo.left_out; }

    bool at_shim(const FifoEnd& end) const {
        return lowering_.config.kind_of(end.tile) == program::TileKind::Shim;
    }

    // Calls `action(tile, direction)` for each end that needs a channel of a shim. Of an end alone
    // and of a core's there is no other side.
    template <class Action>
    void for_shim_ends(const ObjectFifo& fifo, const Action& action) const {
        if (!fifo.dma) {
            return;
        }
        const bool produced = !fifo.one_end || fifo.consumers.empty();
        if (produced && at_shim(fifo.producer) && !fifo.producer.shares) {
            action(fifo.producer.tile, program::Direction::MM2S);
        }
        for (const FifoEnd& end : fifo.consumers) {
            if (at_shim(end)) {
                action(end.tile, program::Direction::S2MM);
            }
        }
    }

    // Designs packed into one device, each with a sequence of its own, may need more channels of a
    // shim than it has: the compiler lets those take turns, as packets, that no sequence uses
    // together. Here those are left out that the sequence which runs does not use.
    void leave_out_unused() {
        std::map<std::pair<program::TileCoordinate, program::Direction>, std::int64_t> wanted;
        for (const program::ChannelId& id : taken_) {
            ++wanted[{id.tile, id.direction}];
        }
        for (const ObjectFifo& fifo : lowering_.fifos) {
            for_shim_ends(fifo, [&](program::TileCoordinate tile, program::Direction direction) {
                ++wanted[{tile, direction}];
            });
        }
        std::set<std::string> used;
        const Operation* const sequence = sequence_of(lowering_);
        if (sequence != nullptr) {
            walk(region_of(*sequence), [&](const Operation& each) { symbols(each.items, used); });
        }
        std::vector<std::string> left_out;
        for (ObjectFifo& fifo : lowering_.fifos) {
            for_shim_ends(fifo, [&](program::TileCoordinate tile, program::Direction direction) {
                const bool overfull = wanted[{tile, direction}] >
                                      lowering_.config.dma_of(program::TileKind::Shim).channels;
                fifo.left_out = fifo.left_out ||
                                (sequence != nullptr && overfull && !used.contains(fifo.name) &&
                                 !used.contains(fifo.name + "_shim_alloc"));
            });
            if (fifo.left_out) {
                left_out.push_back("@" + fifo.name);
            }
        }
        if (!left_out.empty()) {
            lowering_.note(fmt::format(
                "the shim has fewer channels than object FIFOs: those that the sequence does not "
                "use are left out with their cores ({}); the compiler lets them share channels, as "
                "packets",
                fmt::join(left_out, ", ")));
        }
    }
    static void symbols(const std::vector<Item>& items, std::set<std::string>& names) {
        for (const Item& item : items) {
            if (item.is(TokenKind::Symbol)) {
                names.insert(item.token.text);
            }
            symbols(item.items, names);
        }
    }

    void pin(ObjectFifo& fifo) {
        const auto fix = [&](FifoEnd& end, program::Direction direction) {
            if (!is_connected(fifo) || !end.pinned || end.stream_port || end.shares) {
                return;
            }
            const program::ChannelId id{end.tile, direction, *end.pinned};
            if (fifo.one_end) {
                end.channel = id;  // the flow beside it names it, too
                return;
            }
            const std::int64_t channels =
                lowering_.config.dma_of(lowering_.config.kind_of(end.tile)).channels;
            // The channel of an end without elements is programmed, and so named, elsewhere.
            const bool taken = !taken_.insert(id).second && end.pool;
            if (id.index < 0 || id.index >= channels || taken) {
                throw ReadError(fifo.operation->where,
                                fmt::format("channel {} of tile {},{}, to which @{} is pinned, is "
                                            "taken or is none",
                                            id.index, end.tile.column, end.tile.row, fifo.name));
            }
            end.channel = id;
        };
        fix(fifo.producer, program::Direction::MM2S);
        for (FifoEnd& end : fifo.consumers) {
            fix(end, program::Direction::S2MM);
        }
    }

    // The lowest free one.
    program::ChannelId next(const ObjectFifo& fifo, program::TileCoordinate tile,
                            program::Direction direction) {
        const std::int64_t channels =
            lowering_.config.dma_of(lowering_.config.kind_of(tile)).channels;
        for (std::int64_t index = 0; index < channels; ++index) {
            if (taken_.insert({tile, direction, index}).second) {
                return {tile, direction, index};
            }
        }
        throw ReadError(
            fifo.operation->where,
            fmt::format("@{}: tile {},{} has no free {} channel left of its {}", fifo.name,
                        tile.column, tile.row,
                        direction == program::Direction::MM2S ? "MM2S" : "S2MM", channels));
    }

    // Only a memory tile's first channels reach its neighbours: elements there go first.
    void reach_neighbours(ObjectFifo& fifo) {
        const auto choose = [&](FifoEnd& end, program::Direction direction) {
            if (is_connected(fifo) && end.pool && !end.channel && !end.shares &&
                lowering_.fifo_pools[*end.pool].spilled) {
                end.channel = next(fifo, end.tile, direction);
            }
        };
        choose(fifo.producer, program::Direction::MM2S);
        for (FifoEnd& end : fifo.consumers) {
            choose(end, program::Direction::S2MM);
        }
    }

    void channels(ObjectFifo& fifo) {
        if (!is_connected(fifo) || fifo.one_end) {
            return;
        }
        const auto choose = [&](FifoEnd& end, program::Direction direction) {
            if (end.stream_port) {
                end.channel = {end.tile, direction, *end.stream_port, program::PortKind::Core};
            } else if (end.shares) {
                const ObjectFifo& first = lowering_.fifos[*end.shares];
                end.channel =
                    first.end_at(end.tile, direction == program::Direction::MM2S)->channel;
            } else if (!end.channel) {
                end.channel = next(fifo, end.tile, direction);
            }
        };
        choose(fifo.producer, program::Direction::MM2S);
        std::vector<program::ChannelId> to;
        for (FifoEnd& end : fifo.consumers) {
            choose(end, program::Direction::S2MM);
            to.push_back(*end.channel);
        }
        lowering_.fifo_streams.push_back({*fifo.producer.channel, to, fifo.packet});
        allocate(fifo, fifo.producer);
        for (const FifoEnd& end : fifo.consumers) {
            allocate(fifo, end);
        }
    }

    // The sequence means the shim's end.
    void allocate(const ObjectFifo& fifo, const FifoEnd& end) {
        if (!at_shim(end)) {
            return;
        }
        for (const std::string& name : {fifo.name, fifo.name + "_shim_alloc"}) {
            lowering_.allocations.try_emplace(name, *end.channel);
            if (fifo.packet && end.channel->direction == program::Direction::MM2S) {
                lowering_.allocation_packets.try_emplace(name, *fifo.packet);
            }
        }
    }

    const FifoLink* link_at(std::size_t fifo, bool as_input) const {
        for (const FifoLink& link : lowering_.links) {
            const auto& list = as_input ? link.inputs : link.outputs;
            if (std::find(list.begin(), list.end(), fifo) != list.end()) {
                return &link;
            }
        }
        return nullptr;
    }

    void transfers(ObjectFifo& fifo) {
        if (!is_connected(fifo)) {
            return;
        }
        const auto number = static_cast<std::size_t>(&fifo - lowering_.fifos.data());
        if (fifo.producer.pool && !fifo.producer.shares) {
            const FifoLink* link = link_at(number, false);
            ring(fifo, fifo.producer, in_turns(fifo, pieces(fifo.producer, link, number, true)),
                 true);
        }
        for (FifoEnd& end : fifo.consumers) {
            if (!end.pool || end.shares) {
                continue;
            }
            const FifoLink* link = link_at(number, true);
            const bool linked = link != nullptr && link->pool == *end.pool;
            ring(fifo, end, pieces(end, linked ? link : nullptr, number, false), false);
        }
    }

    // What a channel moves of each element, in turn: all of it; its own piece, where a link joins
    // or distributes and the channel is a branch's; one piece after the other, where it is the
    // common end's.
    std::vector<Piece> pieces(const FifoEnd& end, const FifoLink* link, std::size_t fifo,
                              bool sends) const {
        const FifoPool& pool = lowering_.fifo_pools[*end.pool];
        if (!end.segments.empty()) {
            return pieces_of_segments(end, pool);
        }
        std::vector<Piece> pieces;
        const std::size_t branches =
            link == nullptr || link->in_turns ? 1 : link->branches().size();
        const auto length_of = [&](std::size_t branch) {
            const std::int64_t stop =
                branch + 1 < branches ? link->offsets[branch + 1] : pool.element.elements;
            const std::int64_t length = stop - link->offsets[branch];
            if (length < 0) {
                throw ReadError(link->where,
                                fmt::format("the pieces of a link begin one behind the other in "
                                            "its elements of {}, not at {}",
                                            pool.element.elements, fmt::join(link->offsets, ", ")));
            }
            return length;
        };
        for (std::size_t element = 0; element < pool.buffers.size(); ++element) {
            if (branches == 1) {
                pieces.push_back({element, 0, pool.element.elements, 0});
                continue;
            }
            const bool joins = link->inputs.size() > 1;
            const auto& list = link->branches();
            const bool is_branch = sends != joins;
            for (std::size_t branch = 0; branch < branches; ++branch) {
                if (is_branch && list[branch] != fifo) {
                    continue;
                }
                if (const std::int64_t length = length_of(branch); length > 0) {
                    pieces.push_back({element, link->offsets[branch], length, branch});
                }
            }
        }
        return pieces;
    }

    // The ring is as long as every element needs to meet every turn.
    static std::vector<Piece> in_turns(const ObjectFifo& fifo, const std::vector<Piece>& once) {
        if (fifo.turns.empty()) {
            return once;
        }
        std::vector<Piece> pieces;
        for (std::size_t i = 0; i < std::lcm(once.size(), fifo.turns.size()); ++i) {
            pieces.push_back(once[i % once.size()]);
            pieces.back().to = fifo.turns[i % fifo.turns.size()];
        }
        return pieces;
    }

    // Element by element, the segments of each in their order.
    static std::vector<Piece> pieces_of_segments(const FifoEnd& end, const FifoPool& pool) {
        std::vector<Piece> pieces;
        for (std::size_t element = 0; element < pool.buffers.size(); ++element) {
            for (std::size_t i = 0; i < end.segments.size(); ++i) {
                const FifoSegment& segment = pool.segments[end.segments[i]];
                const auto of_segment = [i](const std::vector<std::vector<Item>>& stated) {
                    return i < stated.size() && !stated[i].empty() ? &stated[i] : nullptr;
                };
                pieces.push_back({element, segment.offset, segment.length, end.segments[i],
                                  of_segment(end.segment_dimensions),
                                  of_segment(end.segment_padding)});
            }
        }
        return pieces;
    }

    void ring(ObjectFifo& fifo, const FifoEnd& end, const std::vector<Piece>& pieces, bool sends) {
        const program::ChannelId channel = *end.channel;
        const FifoPool& pool = lowering_.fifo_pools[*end.pool];
        if (pieces.empty()) {
            lowering_.note(fmt::format(
                "@{}: its piece of the link is empty, as the next begins there: nothing is moved",
                fifo.name));
            return;
        }
        // One buffer repeated for ever is a ring of one.
        const std::int64_t repeats =
            sends && (pieces.size() > 1 || fifo.iterations) ? pool.repeat : 1;
        std::vector<program::BufferDescriptor> descriptors;
        for (const Piece& piece : pieces) {
            program::BufferDescriptor descriptor;
            descriptor.buffer = pool.buffers[piece.element];
            const ObjectFifo& stream = piece.to ? lowering_.fifos[*piece.to] : fifo;
            Transfer transfer;
            transfer.type = pool.element;
            transfer.offset = piece.offset;
            transfer.length = piece.length;
            if (const Item* const steps = sends ? stream.producer.dimensions : end.dimensions) {
                read_layout(*steps, lowering_.names, transfer);
            } else if (piece.dimensions != nullptr) {
                read_layout(piece.dimensions->front(), lowering_.names, transfer);
            }
            if (sends && stream.pads) {
                read_padding(*stream.operation, lowering_.names, transfer);
            } else if (piece.padding != nullptr) {
                read_layout(piece.padding->front(), lowering_.names, transfer);
            }
            if (!transfer.padding.empty()) {
                transfer.length = moved_with_padding(transfer);
            }
            set_transfer(descriptor, transfer, fifo.operation->where);
            if (pool.iterated.value_or(1) > 1) {
                descriptor.iteration = program::Iteration{
                    *pool.iterated,
                    words_of(pool.element.elements, pool.element, fifo.operation->where)};
            }
            set_locks(descriptor, pool, piece, sends);
            descriptor.packet = sends ? stream.packet : std::nullopt;
            for (std::int64_t run = 0; run < repeats; ++run) {
                descriptor.id = ids_.next(channel, fifo.operation->where);
                if (!descriptors.empty()) {
                    descriptors.back().next = descriptor.id;
                }
                descriptors.push_back(descriptor);
            }
        }
        program::Task task;
        task.where = fifo.operation->where;
        task.descriptor = descriptors.front().id;
        const auto passes = fifo.iterations ? passes_of(fifo, pool, sends) : end.passes;
        if (passes) {
            task.repeat = *passes;
        } else {
            descriptors.back().next = descriptors.front().id;
        }
        program::TileDma& dma = lowering_.dma_of(end.tile);
        dma.descriptors.insert(dma.descriptors.end(), descriptors.begin(), descriptors.end());
        dma.starts.push_back({channel.direction, channel.index, task});
        fifo.started.emplace_back(channel, task);
    }

    // Both ends move as many elements, depth * repeat_count * iter_count: what is sent repeats
    // within a pass, what is taken in passes (mlir-aie's AIEObjectFifoSplit). Nothing for more than
    // a task can count: such a ring takes whatever comes.
    std::optional<std::int64_t> passes_of(const ObjectFifo& fifo, const FifoPool& pool,
                                          bool sends) const {
        if (sends) {
            return fifo.iterations;
        }
        const std::int64_t depth = pool.depth();
        const std::int64_t sent =
            fifo.producer.pool ? lowering_.fifo_pools[*fifo.producer.pool].depth() : depth;
        const std::int64_t taken = depth * fifo.consumer_element.bytes();  // in a pass
        const std::int64_t most =
            lowering_.config.dma_of(lowering_.config.kind_of(pool.tile)).repeats;
        std::int64_t bytes = sent * fifo.repeat * *fifo.iterations;
        if (__builtin_mul_overflow(bytes, fifo.element.bytes(), &bytes) || bytes > most * taken) {
            return std::nullopt;
        }
        return (bytes + taken - 1) / taken;
    }

    // Where the steps are stated, what is read is theirs; the length on the stream counts padding.
    static std::int64_t moved_with_padding(const Transfer& transfer) {
        if (transfer.dimensions.empty()) {
            return transfer.length;
        }
        std::int64_t moved = 1;
        const std::size_t count = transfer.dimensions.size();
        for (std::size_t i = 0; i < count; ++i) {
            moved *= transfer.dimensions[i].size;
        }
        return moved;
    }

    void set_locks(program::BufferDescriptor& descriptor, const FifoPool& pool, const Piece& piece,
                   bool sends) const {
        if (pool.locks.empty()) {
            return;
        }
        if (lowering_.config.lock_kind == LockKind::Binary) {
            const std::int64_t lock = pool.locks[piece.element].producer;
            descriptor.acquire = program::LockAction{lock, sends ? 1 : 0};
            descriptor.release = program::LockAction{lock, sends ? 0 : 1};
            return;
        }
        const LockPair& pair = pool.locks[piece.locks];
        // Who fills an element makes it ready for every time it is taken.
        const std::int64_t count = sends ? 1 : pool.repeat;
        descriptor.acquire = program::LockAction{sends ? pair.consumer : pair.producer, -count};
        descriptor.release = program::LockAction{sends ? pair.producer : pair.consumer, count};
    }

    Lowering& lowering_;
    DescriptorIds ids_;
    std::set<program::ChannelId> taken_;
};

}  // namespace

void connect_object_fifos(Lowering& lowering) {
    if (!lowering.fifos.empty()) {
        FifoStreams(lowering).run();
    }
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
