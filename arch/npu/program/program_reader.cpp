#include "arch/npu/program/program_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arch/npu/program/descriptor_reader.hpp"
#include "arch/npu/program/entry_reader.hpp"
#include "arch/npu/program/script_reader.hpp"
#include "arch/npu/program/sequence_reader.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

namespace {

class Reader {
  public:
    explicit Reader(Node& root) : root_(root) {}

    Program run() {
        program_.file = root_.file();
        root_.required("program", program_.name, "the program's name");
        root_.optional("columns", program_.columns, {0, 64},
                       "the array's first columns, to which the program keeps; 0: all");
        root_.optional("ends_with_sequence", program_.ends_with_sequence,
                       "the run is over when the sequence is, whatever is still under way");
        root_.optional("sets_itself_up", program_.sets_itself_up,
                       "the sequence writes the configuration, which no firmware has to load");
        storage();
        for (Node& entry : root_.list("dmas", "descriptors and tasks at configuration time")) {
            program_.dmas.push_back(DescriptorReader(program_).dma(entry));
        }
        for (Node& entry : root_.list("routes", "streams between channels")) {
            route(entry);
        }
        for (Node& entry : root_.list("merges", "arbiters that pass packets in a fixed order")) {
            merge(entry);
        }
        for (Node& entry :
             root_.list("traced", "channels that trace units feed: nothing arrives")) {
            program_.traced.push_back(read_channel(entry));
        }
        for (Node& entry : root_.list("logic_streams", "memories that feed core streams")) {
            logic_stream(entry);
        }
        for (Node& entry : root_.list("cascades", "wide ways between neighbouring cores")) {
            Cascade cascade;
            entry.required("name", cascade.name, "name");
            cascade.from = read_tile(entry, "from");
            cascade.to = read_tile(entry, "to");
            add(program_.cascades, cascade, entry);
        }
        for (Node& entry : root_.list("kernels", "what cores call")) {
            kernel(entry);
        }
        for (Node& entry : root_.list("cores", "the cores' scripts")) {
            program_.cores.push_back(ScriptReader(program_).core(entry));
        }
        for (Node& entry : root_.list("sequence", "what the command processor executes")) {
            SequenceReader(program_).read(entry);
        }
        for (Node& entry : root_.list("then", "configurations loaded one after the other")) {
            if (entry.describing()) {
                break;  // each is described as this one is
            }
            program_.then.push_back(Reader(entry).run());
            entry.done();
        }
        return std::move(program_);
    }

  private:
    template <class Named>
    void add(std::vector<Named>& list, Named entry, Node& node) {
        const bool known = std::any_of(list.begin(), list.end(), [&entry](const Named& each) {
            return each.name == entry.name;
        });
        if (known) {
            node.error("name", fmt::format("'{}' is declared twice", entry.name));
        }
        node.done();
        entry.where = node.place();
        list.push_back(std::move(entry));
    }

    void storage() {
        for (Node& entry : root_.list("external_buffers", "the program's arguments in DRAM")) {
            ExternalBuffer buffer;
            entry.required("name", buffer.name, "name");
            entry.required("address", buffer.address, kAddress, "physical address");
            entry.required("bytes", buffer.bytes, kAddress, "size");
            add(program_.external_buffers, buffer, entry);
        }
        for (Node& entry : root_.list("locks", "counting semaphores")) {
            Lock lock;
            entry.required("name", lock.name, "name");
            lock.tile = read_tile(entry);
            entry.required("id", lock.id, kCount, "number in its tile");
            entry.optional("initial", lock.initial, kCount, "value at start");
            add(program_.locks, lock, entry);
        }
        for (Node& entry : root_.list("buffers", "ranges of tile memory")) {
            Buffer buffer;
            entry.required("name", buffer.name, "name");
            buffer.tile = read_tile(entry);
            buffer.address = kUnplaced;
            entry.optional("address", buffer.address, {kUnplaced, kAddress.most},
                           "in the tile's own memory; -1: placed by banks");
            entry.required("bytes", buffer.bytes, kAddress, "size");
            add(program_.buffers, buffer, entry);
        }
    }

    void route(Node& entry) {
        Route route;
        entry.required("name", route.name, "name");
        route.source = read_channel(entry.child("from", "MM2S channel or core output"), true);
        for (Node& each : entry.list("to", "S2MM channels or core inputs")) {
            bool keep = true;
            each.optional("keep_header", keep, "off: this one's port drops a header that is kept");
            route.destinations.push_back(read_channel(each, true));
            if (!keep) {
                route.without_header.push_back(route.destinations.back());
            }
        }
        if (entry.offers("packet_id")) {
            std::int64_t id = 0;
            entry.optional("packet_id", id, kPacketIdRange, "packet-switched stream of this id");
            route.packet_id = id;
        }
        entry.optional("keep_header", route.keep_header, "whether the receiver gets the header");
        if (route.keep_header && !route.packet_id) {
            entry.error("keep_header", "goes with packet_id: words of a circuit have no header");
        }
        for (Node& each : entry.list("path", "switches crossed; left out: routed")) {
            Hop hop;
            hop.tile = read_tile(each);
            hop.in = read_port(each, "in");
            hop.out = read_port(each, "out");
            if (each.offers("arbiter")) {
                std::int64_t arbiter = 0;
                each.optional("arbiter", arbiter, {0, 5}, "of a packet switch");
                hop.arbiter = arbiter;
            }
            each.done();
            route.path.push_back(hop);
        }
        if (route.destinations.empty()) {
            entry.error("to", "must name at least one channel");
        }
        add(program_.routes, route, entry);
    }

    void merge(Node& entry) {
        Merge merge;
        merge.tile = read_tile(entry);
        entry.required("arbiter", merge.arbiter, kCount, "which of the switch's");
        for (Node& each : entry.list("turns", "whose packets pass, in order, and again")) {
            Merge::Turn turn;
            turn.in = read_port(each, "in");
            each.optional("packets", turn.packets, kCount, "so many of them");
            each.done();
            merge.turns.push_back(turn);
        }
        entry.done();
        merge.where = entry.place();
        program_.merges.push_back(std::move(merge));
    }

    void logic_stream(Node& entry) {
        LogicStream stream;
        entry.required("name", stream.name, "name");
        stream.tile = read_tile(entry);
        stream.buffer =
            read_reference(entry, "buffer", program_.external_buffers, "external buffer");
        entry.optional("bytes_per_cycle", stream.bytes_per_cycle, {0, 1024},
                       "rate; 0: as fast as the core reads");
        for (Node& each : entry.list("passes", "what is played, in order")) {
            LogicStream::Pass pass;
            each.optional("offset", pass.offset, kAddress, "bytes into the buffer");
            each.required("bytes", pass.bytes, kAddress, "length");
            each.optional("repeat", pass.repeat, {1, INT32_MAX}, "times");
            each.done();
            stream.passes.push_back(pass);
        }
        add(program_.logic_streams, stream, entry);
    }

    void kernel(Node& entry) {
        Kernel kernel;
        entry.required("name", kernel.name, "name");
        entry.required("kind", kernel.kind, kKernelKinds, "what it does");
        const Range tile{0, 1 << 16};
        entry.optional("m", kernel.m, tile, "rows of C");
        entry.optional("k", kernel.k, tile, "reduced elements");
        entry.optional("n", kernel.n, tile, "columns of C");
        entry.optional("a", kernel.a, kDataTypes, "type of A");
        entry.optional("b", kernel.b, kDataTypes, "type of B");
        entry.optional("c", kernel.c, kDataTypes, "type of C");
        entry.optional("b_layout", kernel.b_column_major,
                       {{"column_major", true}, {"row_major", false}}, "order of B");
        if (entry.offers("cycles")) {
            std::int64_t cycles = 0;
            entry.optional("cycles", cycles, {0, 1'000'000'000}, "instead of the timing model's");
            kernel.cycles = cycles;
        }
        entry.optional("value", kernel.value, {INT32_MIN, INT32_MAX}, "what add_value adds");
        entry.optional("mode", kernel.mode, "multiply: which mode of the device, by its name");
        entry.optional("c_layout", kernel.c_column_major,
                       {{"column_major", true}, {"row_major", false}}, "order of C");
        entry.optional("operation", kernel.operation, kVectorOperations, "what vector does");
        entry.optional("scale_block", kernel.scale_block, {0, 1 << 16},
                       "matvec, dequantise: elements of A that share a scale factor; 0: none");
        entry.optional("iteration_lanes", kernel.iteration_lanes, {0, 1024},
                       "cast: elements of an iteration, one iteration after the other; 0: they "
                       "overlap");
        entry.optional("by_element", kernel.by_element,
                       "cast: whether such an iteration converts element by element");
        entry.optional("marked", kernel.marked,
                       "whether its code tells trace units of its begin and end (event0, event1)");
        const bool stated = kernel.kind == KernelKind::Fixed || kernel.kind == KernelKind::Inline;
        if (stated && !kernel.cycles) {
            entry.error("cycles", "is needed for a kernel of kind fixed or inline");
        }
        add(program_.kernels, kernel, entry);
    }

    Node& root_;
    Program program_;
};

}  // namespace

Program read_program(Node& root) {
    return Reader(root).run();
}

}  // namespace tilesim::arch::npu::program
