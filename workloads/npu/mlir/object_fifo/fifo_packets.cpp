#include "workloads/npu/mlir/object_fifo/fifo_packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

using descriptors::read_packet;

namespace {

bool states_id(const std::vector<Item>& items) {
    return std::any_of(items.begin(), items.end(), [](const Item& item) {
        return item.is_word("pkt_id") || states_id(item.items);
    });
}

std::set<std::int64_t> ids_of_flows(const Lowering& lowering) {
    std::set<std::int64_t> ids;
    for (const Operation& operation : lowering.body()) {
        if (operation.name == "aie.packet_flow") {
            Cursor cursor(operation);
            Cursor inside(cursor.group("("));
            ids.insert(inside.integer());
        } else if (operation.name == "aie.trace") {
            walk(region_of(operation), [&](const Operation& each) {
                if (each.name == "aie.trace.packet") {
                    ids.insert(integer_attribute(each, "id").value_or(0));
                }
            });
        }
    }
    return ids;
}

// The FIFO whose header this one has: of senders that take turns at a receiver the first.
const ObjectFifo* same_header(const Lowering& lowering, const ObjectFifo& fifo) {
    for (const FifoEnd& end : fifo.consumers) {
        if (end.shares) {
            return &lowering.fifos[*end.shares];
        }
    }
    return nullptr;
}

}  // namespace

void set_header(const std::vector<Item>& items, Location where, ObjectFifo& fifo) {
    fifo.packets = true;
    const program::Packet packet = read_packet(items, where);
    if (states_id(items)) {
        fifo.packet = packet;
    }
    fifo.packet_type = packet.type;
}

void read_header(const Operation& operation, ObjectFifo& fifo) {
    const auto header = operation.attribute("packet");
    if (header && std::any_of(header->begin(), header->end(),
                              [](const Item& item) { return item.opens("<"); })) {
        set_header(*header, operation.where, fifo);
        return;
    }
    fifo.packets = is_true(operation, "packet");
    if (const auto id = integer_attribute(operation, "packet_id")) {
        if (*id < 0 || *id >= program::kPacketIds) {
            throw ReadError(operation.where, fmt::format("a packet id must be 0..31, got {}", *id));
        }
        fifo.packets = true;
        fifo.packet = program::Packet{*id};
    }
}

void choose_packet_ids(Lowering& lowering) {
    std::set<std::int64_t> taken = ids_of_flows(lowering);
    for (const ObjectFifo& fifo : lowering.fifos) {
        if (fifo.packets && fifo.packet) {
            taken.insert(fifo.packet->id);
        }
    }
    for (ObjectFifo& fifo : lowering.fifos) {
        if (!fifo.packets || fifo.packet || !fifo.dma || fifo.left_out) {
            continue;
        }
        if (const ObjectFifo* const first = same_header(lowering, fifo)) {
            fifo.packet = first->packet;
            continue;
        }
        std::int64_t id = 0;
        while (!taken.insert(id).second) {
            ++id;
        }
        if (id >= program::kPacketIds) {
            throw ReadError(fifo.operation->where,
                            fmt::format("@{}: none of the {} packet ids is left", fifo.name,
                                        program::kPacketIds));
        }
        fifo.packet = program::Packet{id, fifo.packet_type};
    }
}

void take_turns(Lowering& lowering, const FifoLink& link, program::TileCoordinate tile) {
    const std::vector<std::size_t>& branches = link.branches();
    const bool merges = link.inputs.size() > 1;
    const std::size_t first = *std::min_element(branches.begin(), branches.end());
    const auto end_of = [&](std::size_t number) -> FifoEnd& {
        ObjectFifo& fifo = lowering.fifos[number];
        return merges ? *std::find_if(fifo.consumers.begin(), fifo.consumers.end(),
                                      [&](const FifoEnd& each) { return each.tile == tile; })
                      : fifo.producer;
    };
    const std::int64_t bytes = lowering.fifo_pools[link.pool].element.bytes();
    for (const std::size_t branch : branches) {
        ObjectFifo& fifo = lowering.fifos[branch];
        FifoEnd& end = end_of(branch);
        const MemrefType& element = merges ? fifo.consumer_element : fifo.element;
        if (element.bytes() != bytes) {
            throw ReadError(link.where,
                            fmt::format("branches that take turns in time move whole elements, of "
                                        "{} B; those of @{} have {}",
                                        bytes, fifo.name, element.bytes()));
        }
        if (fifo.repeat > 1 || fifo.iterations || fifo.iterates) {
            throw ReadError(link.where,
                            fmt::format("@{} takes turns in time: repeat_count, iter_count and "
                                        "iterate_bds are not modelled there",
                                        fifo.name));
        }
        if (merges && end.dimensions != nullptr) {
            throw ReadError(link.where,
                            fmt::format("which branch's element arrives is not known before: @{} "
                                        "has no dimensionsFromStream here",
                                        fifo.name));
        }
        fifo.packets = true;
        if (branch == first) {
            continue;
        }
        end.shares = first;
        FifoEnd& common = end_of(first);
        common.pinned = common.pinned ? common.pinned : end.pinned;
    }
    if (!merges) {
        lowering.fifos[first].turns = branches;
    }
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
