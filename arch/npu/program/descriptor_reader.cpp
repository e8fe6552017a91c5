#include "arch/npu/program/descriptor_reader.hpp"

#include <algorithm>
#include <cstdint>

#include "arch/npu/program/reader_values.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;

namespace {

void read_packet(Node& node, BufferDescriptor& bd) {
    if (node.has("packet")) {
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
}

void read_alternate(Node& node, const Program& program, BufferDescriptor& bd) {
    if (node.has("alternate")) {
        Node other = node.child("alternate", "used by every second execution");
        bd.alternate.emplace();
        bd.alternate->buffer = read_reference(other, "buffer", program.buffers, "buffer");
        other.optional("offset", bd.alternate->offset, kAddress, "bytes into the buffer");
        if (other.has("acquire")) {
            bd.alternate->acquire =
                read_lock_action(other.child("acquire", "before the transfer"), program.locks);
        }
        if (other.has("release")) {
            bd.alternate->release =
                read_lock_action(other.child("release", "after the transfer"), program.locks);
        }
        other.done();
    }
}

}  // namespace

BufferDescriptor read_descriptor(Node node, const Program& program, bool shim) {
    BufferDescriptor bd;
    node.required("id", bd.id, kCount, "number in its tile");
    bd.buffer = shim ? read_reference(node, "buffer", program.external_buffers, "external buffer")
                     : read_reference(node, "buffer", program.buffers, "buffer");
    node.optional("offset", bd.offset, kAddress, "bytes into the buffer");
    node.required("length", bd.length, kCount, "words moved");
    for (Node& entry : node.list("dimensions", "[size, stride], innermost first")) {
        const auto pair = pair_of(entry);
        bd.dimensions.push_back({pair[0], pair[1]});
    }
    if (node.has("iteration")) {
        const auto pair = read_pair(node, "iteration", kCount, "size and stride");
        bd.iteration = Iteration{std::max<std::int64_t>(1, pair[0]), pair[1]};
        node.optional("iteration_current", bd.iteration->current, {0, bd.iteration->size - 1},
                      "of the first execution");
    }
    for (Node& entry : node.list("padding", "[before, after], innermost first")) {
        const auto pair = pair_of(entry);
        bd.padding.push_back({pair[0], pair[1]});
    }
    if (node.has("acquire")) {
        bd.acquire = read_lock_action(node.child("acquire", "before the transfer"), program.locks);
    }
    if (node.has("release")) {
        bd.release = read_lock_action(node.child("release", "after the transfer"), program.locks);
    }
    read_packet(node, bd);
    read_if_there(node, "next", bd.next, kCount, "descriptor that follows");
    node.optional("burst_bytes", bd.burst_bytes, kCount, "shim: longest burst; 0: the device's");
    read_alternate(node, program, bd);
    node.done();
    return bd;
}

Task read_task(Node& node) {
    Task t;
    node.required("descriptor", t.descriptor, kCount, "first of the chain");
    node.optional("repeat", t.repeat, {1, 256}, "runs of the chain");
    node.optional("token", t.token, "send a completion token");
    node.optional("out_of_order", t.out_of_order,
                  "S2MM: each packet's header names its descriptor, and repeat counts packets");
    return t;
}

}  // namespace tilesim::arch::npu::program
