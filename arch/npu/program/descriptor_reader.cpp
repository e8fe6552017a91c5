#include "arch/npu/program/descriptor_reader.hpp"

#include <algorithm>
#include <string>

#include "arch/npu/program/entry_reader.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

LockAction DescriptorReader::action(Node node) const {
    LockAction lock;
    lock.lock = read_reference(node, "lock", program_.locks, "lock");
    node.required("value", lock.value, {-64, 64},
                  "acquire: -n waits for at least n and takes them, n waits for n; release: "
                  "adds n");
    node.done();
    return lock;
}

BufferDescriptor DescriptorReader::descriptor(Node node, bool shim) const {
    BufferDescriptor bd;
    bd.where = node.place();
    node.required("id", bd.id, kCount, "number in its tile");
    bd.buffer = shim ? read_reference(node, "buffer", program_.external_buffers, "external buffer")
                     : read_reference(node, "buffer", program_.buffers, "buffer");
    node.optional("offset", bd.offset, kAddress, "bytes into the buffer");
    node.required("length", bd.length, kCount, "words moved");
    for (Node& entry : node.list("dimensions", "[size, stride], innermost first")) {
        const auto pair = pair_of(entry);
        bd.dimensions.push_back({pair[0], pair[1]});
    }
    if (node.offers("iteration")) {
        const auto pair = read_pair(node, "iteration", kCount, "size and stride");
        bd.iteration = Iteration{pair[0], pair[1]};
        node.optional("iteration_current", bd.iteration->current,
                      {0, std::max<std::int64_t>(1, pair[0]) - 1}, "of the first execution");
    }
    for (Node& entry : node.list("padding", "[before, after], innermost first")) {
        const auto pair = pair_of(entry);
        bd.padding.push_back({pair[0], pair[1]});
    }
    if (node.offers("acquire")) {
        bd.acquire = action(node.child("acquire", "before the transfer"));
    }
    if (node.offers("release")) {
        bd.release = action(node.child("release", "after the transfer"));
    }
    if (node.offers("packet")) {
        Node packet = node.child("packet", "header of what is sent");
        bd.packet.emplace();
        packet.required("id", bd.packet->id, kPacketIdRange, "stream id");
        packet.optional("type", bd.packet->type, {0, 7}, "packet type");
        packet.optional("descriptor", bd.packet->descriptor, {0, 63},
                        "the receiver's, where it takes packets out of order");
        packet.optional("in_data", bd.packet->in_data,
                        "the data's first word is the header, and the channel adds none");
        packet.done();
    }
    if (node.offers("next")) {
        std::int64_t next = 0;
        node.optional("next", next, kCount, "descriptor that follows");
        bd.next = next;
    }
    node.optional("burst_bytes", bd.burst_bytes, kCount, "shim: longest burst; 0: the device's");
    if (node.offers("alternate")) {
        Node other = node.child("alternate", "used by every second execution");
        bd.alternate.emplace();
        bd.alternate->buffer = read_reference(other, "buffer", program_.buffers, "buffer");
        other.optional("offset", bd.alternate->offset, kAddress, "bytes into the buffer");
        if (other.offers("acquire")) {
            bd.alternate->acquire = action(other.child("acquire", "before the transfer"));
        }
        if (other.offers("release")) {
            bd.alternate->release = action(other.child("release", "after the transfer"));
        }
        other.done();
    }
    node.done();
    return bd;
}

Task DescriptorReader::task(Node& node) {
    Task t;
    t.where = node.place();
    node.required("descriptor", t.descriptor, kCount, "first of the chain");
    node.optional("repeat", t.repeat, {1, 256}, "runs of the chain");
    node.optional("token", t.token, "send a completion token");
    node.optional("out_of_order", t.out_of_order,
                  "S2MM: each packet's header names its descriptor, and repeat counts packets");
    return t;
}

TileDma DescriptorReader::dma(Node& entry) const {
    TileDma dma;
    dma.where = entry.place();
    dma.tile = read_tile(entry);
    for (Node& each : entry.list("descriptors", "buffer descriptors")) {
        dma.descriptors.push_back(descriptor(each, dma.tile.row == 0));
    }
    for (Node& each : entry.list("starts", "tasks queued at start")) {
        TileDma::Start start;
        const ChannelId id = read_channel_name(each, dma.tile, false);
        start.direction = id.direction;
        start.channel = id.index;
        start.task = task(each);
        each.done();
        dma.starts.push_back(start);
    }
    entry.done();
    return dma;
}

}  // namespace tilesim::arch::npu::program
