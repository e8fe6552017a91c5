#include "arch/npu/program/program_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

namespace {

constexpr Range kCoordinate{0, 1023};
constexpr Range kCount{0, INT64_MAX};
constexpr Range kPacketIdRange{0, kPacketIds - 1};
constexpr Range kAddress{0, std::int64_t{1} << 48};

// Two integers: of the list under `key`, or of the list the node itself is.
std::vector<std::int64_t> pair_in(Node& node, std::string_view key, std::vector<Node> entries,
                                  Range range) {
    std::vector<std::int64_t> values;
    for (Node& entry : entries) {
        values.push_back(entry.integer(range));
    }
    if (values.size() != 2) {
        node.error(key, "must be a list of two integers");
        values.resize(2);
    }
    return values;
}

std::vector<std::int64_t> read_pair(Node& node, std::string_view key, Range range,
                                    std::string_view description) {
    return pair_in(node, key, node.list(key, description), range);
}

TileCoordinate read_tile(Node& node, std::string_view key = "tile") {
    const auto at = read_pair(node, key, kCoordinate, "column and row");
    return {at[0], at[1]};
}

// "mm2s0"; where a core's own stream ports are possible also "core_in1", "core_out0".
ChannelId read_channel_name(Node& node, TileCoordinate tile, bool core_ports) {
    constexpr struct {
        std::string_view name;
        Direction direction;
        PortKind port;
    } kKinds[] = {{"mm2s", Direction::MM2S, PortKind::Dma},
                  {"s2mm", Direction::S2MM, PortKind::Dma},
                  {"core_in", Direction::S2MM, PortKind::Core},
                  {"core_out", Direction::MM2S, PortKind::Core}};
    std::string text;
    node.required("channel", text, "mm2s0, s2mm1 ...");
    for (const auto& kind : kKinds) {
        std::int64_t index = 0;
        const char* begin = text.data() + kind.name.size();
        const char* end = text.data() + text.size();
        if (text.starts_with(kind.name) && text.size() > kind.name.size() &&
            (core_ports || kind.port == PortKind::Dma) &&
            std::from_chars(begin, end, index).ptr == end && index >= 0) {
            return {tile, kind.direction, index, kind.port};
        }
    }
    node.error("channel", fmt::format("must be mm2s or s2mm{} and a number, got '{}'",
                                      core_ports ? ", core_in or core_out" : "", text));
    return {tile};
}

ChannelId read_channel(Node node, bool core_ports = false) {
    const ChannelId id = read_channel_name(node, read_tile(node), core_ports);
    node.done();
    return id;
}

SwitchPort read_port(Node& node, std::string_view key) {
    std::string text;
    node.required(key, text, "port of the switch");
    const auto port = parse_port(text);
    if (!port) {
        node.error(key, fmt::format("must be a port such as south3 or dma0, got '{}'", text));
    }
    return port.value_or(SwitchPort{});
}

// A list's entries by name.
template <class Named>
std::int64_t find_name(Node& node, std::string_view key, const std::vector<Named>& list,
                       const std::string& name, const char* what) {
    const auto place = std::find_if(list.begin(), list.end(),
                                    [&name](const Named& each) { return each.name == name; });
    if (place != list.end()) {
        return place - list.begin();
    }
    std::vector<std::string> known;
    for (const Named& each : list) {
        known.push_back(each.name);
    }
    const std::string near = base::config::nearest_name(name, known);
    node.error(key, fmt::format("no {} is named '{}'{}", what, name,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    return 0;
}

template <class Named>
std::int64_t read_reference(Node& node, std::string_view key, const std::vector<Named>& list,
                            const char* what) {
    std::string name;
    node.required(key, name, what);
    return name.empty() ? 0 : find_name(node, key, list, name, what);
}

class Reader {
  public:
    explicit Reader(Node& root) : root_(root) {}

    Program run() {
        root_.required("program", program_.name, "the program's name");
        root_.optional("ends_with_sequence", program_.ends_with_sequence,
                       "the run is over when the sequence is, whatever is still under way");
        storage();
        for (Node& entry : root_.list("dmas", "descriptors and tasks at configuration time")) {
            dma(entry);
        }
        for (Node& entry : root_.list("routes", "streams between channels")) {
            route(entry);
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
            core(entry);
        }
        for (Node& entry : root_.list("sequence", "what the command processor executes")) {
            sequence(entry);
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
            entry.optional("address", buffer.address, kAddress,
                           "in the tile's own memory; left out: placed by banks");
            entry.required("bytes", buffer.bytes, kAddress, "size");
            add(program_.buffers, buffer, entry);
        }
    }

    LockAction action(Node node) {
        LockAction lock;
        lock.lock = read_reference(node, "lock", program_.locks, "lock");
        node.required("value", lock.value, {-64, 64},
                      "acquire: -n waits for at least n and takes them, n waits for n; release: "
                      "adds n");
        node.done();
        return lock;
    }

    BufferDescriptor descriptor(Node node, bool shim) {
        BufferDescriptor bd;
        node.required("id", bd.id, kCount, "number in its tile");
        bd.buffer =
            shim ? read_reference(node, "buffer", program_.external_buffers, "external buffer")
                 : read_reference(node, "buffer", program_.buffers, "buffer");
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
            bd.acquire = action(node.child("acquire", "before the transfer"));
        }
        if (node.has("release")) {
            bd.release = action(node.child("release", "after the transfer"));
        }
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
        if (node.has("next")) {
            std::int64_t next = 0;
            node.optional("next", next, kCount, "descriptor that follows");
            bd.next = next;
        }
        node.optional("burst_bytes", bd.burst_bytes, kCount,
                      "shim: longest burst; 0: the device's");
        if (node.has("alternate")) {
            Node other = node.child("alternate", "used by every second execution");
            bd.alternate.emplace();
            bd.alternate->buffer = read_reference(other, "buffer", program_.buffers, "buffer");
            other.optional("offset", bd.alternate->offset, kAddress, "bytes into the buffer");
            if (other.has("acquire")) {
                bd.alternate->acquire = action(other.child("acquire", "before the transfer"));
            }
            if (other.has("release")) {
                bd.alternate->release = action(other.child("release", "after the transfer"));
            }
            other.done();
        }
        node.done();
        return bd;
    }

    // An entry that is itself a list of two integers.
    static std::vector<std::int64_t> pair_of(Node& entry) {
        return pair_in(entry, "", entry.entries(), {INT32_MIN, INT32_MAX});
    }

    Task task(Node& node) {
        Task t;
        node.required("descriptor", t.descriptor, kCount, "first of the chain");
        node.optional("repeat", t.repeat, {1, 256}, "runs of the chain");
        node.optional("token", t.token, "send a completion token");
        node.optional("out_of_order", t.out_of_order,
                      "S2MM: each packet's header names its descriptor, and repeat counts packets");
        return t;
    }

    void dma(Node& entry) {
        TileDma dma;
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
        program_.dmas.push_back(std::move(dma));
    }

    void route(Node& entry) {
        Route route;
        entry.required("name", route.name, "name");
        route.source = read_channel(entry.child("from", "MM2S channel or core output"), true);
        for (Node& each : entry.list("to", "S2MM channels or core inputs")) {
            route.destinations.push_back(read_channel(each, true));
        }
        if (entry.has("packet_id")) {
            std::int64_t id = 0;
            entry.optional("packet_id", id, kPacketIdRange, "packet-switched stream of this id");
            route.packet_id = id;
        }
        entry.optional("keep_header", route.keep_header, "whether the receiver gets the header");
        for (Node& each : entry.list("path", "switches crossed; left out: routed")) {
            Hop hop;
            hop.tile = read_tile(each);
            hop.in = read_port(each, "in");
            hop.out = read_port(each, "out");
            if (each.has("arbiter")) {
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
        if (entry.has("cycles")) {
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
        const bool stated = kernel.kind == KernelKind::Fixed || kernel.kind == KernelKind::Inline;
        if (stated && !kernel.cycles) {
            entry.error("cycles", "is needed for a kernel of kind fixed or inline");
        }
        add(program_.kernels, kernel, entry);
    }

    void core(Node& entry) {
        CoreProgram core;
        core.tile = read_tile(entry);
        for (Node& each : entry.list("rotations", "buffers an operand takes in turn")) {
            Rotation rotation;
            each.required("name", rotation.name, "name");
            for (Node& buffer : each.list("buffers", "in turn")) {
                rotation.buffers.push_back(
                    find_name(buffer, "", program_.buffers, buffer.scalar(), "buffer"));
            }
            each.optional("parts", rotation.parts, {1, 1 << 16},
                          "equal parts each buffer is taken in, one after the other");
            if (rotation.buffers.empty()) {
                each.error("buffers", "must name at least one buffer");
            }
            each.done();
            core.rotations.push_back(rotation);
        }
        core.script = script(entry, "script", core);
        entry.done();
        program_.cores.push_back(std::move(core));
    }

    std::vector<CoreOp> script(Node& node, const char* key, const CoreProgram& core) {
        std::vector<CoreOp> ops;
        for (Node& entry : node.list(key, "core operations in order")) {
            const auto add = [&ops](auto op) { ops.push_back({std::move(op)}); };
            const auto action_of = [&](const char* name, const char* description) {
                return action(entry.child(name, description));
            };
            read_one(
                entry,
                {{"acquire", [&] { add(AcquireOp{action_of("acquire", "waits for a lock")}); }},
                 {"release", [&] { add(ReleaseOp{action_of("release", "releases a lock")}); }},
                 {"call", [&] { add(call(entry.child("call", "runs a kernel"), core)); }},
                 {"put",
                  [&] {
                      add(cascade<PutCascadeOp>(entry.child("put", "words to the outgoing cascade"),
                                                "from", core));
                  }},
                 {"get",
                  [&] {
                      add(cascade<GetCascadeOp>(
                          entry.child("get", "words from the incoming cascade"), "into", core));
                  }},
                 {"put_stream",
                  [&] {
                      add(own_stream<PutStreamOp>(
                          entry.child("put_stream", "words to the core's own stream output"),
                          "from", core));
                  }},
                 {"get_stream",
                  [&] {
                      add(own_stream<GetStreamOp>(
                          entry.child("get_stream", "words from the core's own stream input"),
                          "into", core));
                  }},
                 {"loop", [&] {
                      LoopOp loop = read_loop(entry.child("loop", "repeats the body"));
                      loop.body = loop_body(entry, core);
                      add(std::move(loop));
                  }}});
        }
        return ops;
    }

    std::vector<CoreOp> loop_body(Node& entry, const CoreProgram& core) {
        if (entry.describing()) {  // as the script, which describes it
            entry.list("body", "core operations in order");
            return {};
        }
        return script(entry, "body", core);
    }

    struct Alternative {
        const char* key;
        std::function<void()> read;
    };
    // What the entry is, by its one key; a describing one is all of it.
    static void read_one(Node& entry, const std::vector<Alternative>& alternatives) {
        bool found = false;
        for (const auto& [key, read] : alternatives) {
            if ((!found || entry.describing()) && entry.has(key)) {
                read();
                found = true;
            }
        }
        if (!found) {
            std::string names = alternatives.front().key;
            for (std::size_t i = 1; i < alternatives.size(); ++i) {
                names += i + 1 < alternatives.size() ? ", " : " or ";
                names += alternatives[i].key;
            }
            entry.error("", "must be " + names);
        }
        entry.done();
    }

    template <class Op>
    static Op cascade(Node node, const char* operand, const CoreProgram& core) {
        Op op;
        node.required("words", op.words, {1, 1 << 20}, "of 512 bits");
        op.operand = optional_rotation(node, operand, core);
        node.done();
        return op;
    }

    template <class Op>
    static Op own_stream(Node node, const char* operand, const CoreProgram& core) {
        Op op;
        node.optional("port", op.port, {0, 7}, "of the core's inputs or outputs");
        node.required("words", op.words, {1, 1 << 20}, "of 32 bits");
        op.operand = optional_rotation(node, operand, core);
        if constexpr (std::is_same_v<Op, PutStreamOp>) {
            if (node.has("packet")) {
                std::int64_t id = 0;
                node.optional(
                    "packet", id, kPacketIdRange,
                    "id in the header, which is the first word where no packet is under way");
                op.packet = id;
            }
            node.optional("ends_packet", op.ends_packet, "with its last word (TLAST)");
        }
        node.done();
        return op;
    }

    static std::optional<std::int64_t> optional_rotation(Node& node, const char* key,
                                                         const CoreProgram& core) {
        if (!node.has(key)) {
            return std::nullopt;
        }
        std::string name;
        node.optional(key, name, "rotation");
        return name.empty() ? 0 : find_name(node, key, core.rotations, name, "rotation");
    }

    static LoopOp read_loop(Node node) {
        LoopOp loop;
        if (node.has("parameter")) {
            std::int64_t parameter = 0;
            node.optional("parameter", parameter, {0, 1023}, "run-time parameter with the count");
            loop.parameter = parameter;
        }
        constexpr Range kTimes{-1, INT64_MAX};
        if (node.describing()) {  // either is enough
            node.optional("count", loop.count, kTimes, "times; -1: for ever");
        } else if (!loop.parameter) {
            node.required("count", loop.count, kTimes, "times; -1: for ever");
        }
        node.done();
        return loop;
    }

    CallOp call(Node node, const CoreProgram& core) {
        CallOp op;
        op.kernel = read_reference(node, "kernel", program_.kernels, "kernel");
        const auto names = [&](const char* key, std::vector<std::int64_t>& into) {
            for (Node& entry : node.list(key, "rotations")) {
                into.push_back(find_name(entry, "", core.rotations, entry.scalar(), "rotation"));
            }
        };
        names("operands", op.operands);
        names("advance", op.advance);
        node.done();
        return op;
    }

    void sequence(Node& entry) {
        const auto add = [this](auto operation) {
            program_.sequence.push_back(std::move(operation));
        };
        const auto channel_of = [&](const char* key, const char* description) {
            return read_channel(entry.child(key, description));
        };
        read_one(
            entry,
            {{"write_descriptor", [&] { write_descriptor(entry); }},
             {"push",
              [&] {
                  Node node = entry.child("push", "queues a task");
                  const ChannelId to = read_channel(node.child("to", "channel"));
                  add(PushTask{to, task(node)});
                  node.done();
              }},
             {"wait", [&] { add(WaitToken{channel_of("wait", "takes a completion token")}); }},
             {"wait_idle",
              [&] { add(WaitIdle{channel_of("wait_idle", "polls until it has no task")}); }},
             {"write_parameter", [&] { write_parameter(entry); }},
             {"set_lock", [&] { set_lock(entry); }},
             {"acquire",
              [&] {
                  add(AcquireLock{action(entry.child("acquire", "the host acquires a lock"))});
              }},
             {"copy", [&] { copy(entry); }},
             {"reset_channel",
              [&] {
                  add(ResetChannel{channel_of("reset_channel", "drops its queue and its task")});
              }},
             {"reset_core", [&] { add(ResetCore{read_tile(entry, "reset_core")}); }}});
    }

    void write_descriptor(Node& entry) {
        Node node = entry.child("write_descriptor", "writes a descriptor");
        const TileCoordinate tile = read_tile(node);
        program_.sequence.push_back(WriteDescriptor{
            tile, descriptor(node.child("descriptor", "what is written"), tile.row == 0)});
        node.done();
    }

    void write_parameter(Node& entry) {
        Node node = entry.child("write_parameter", "sets a run-time parameter");
        WriteParameter write;
        write.tile = read_tile(node);
        node.required("index", write.index, {0, 1023}, "which");
        node.required("value", write.value, {INT32_MIN, INT32_MAX}, "value");
        node.done();
        program_.sequence.push_back(write);
    }

    void set_lock(Node& entry) {
        Node node = entry.child("set_lock", "sets a lock's value");
        SetLock set;
        set.lock = read_reference(node, "lock", program_.locks, "lock");
        node.required("value", set.value, {0, 63}, "value");
        node.done();
        program_.sequence.push_back(set);
    }

    void copy(Node& entry) {
        Node node = entry.child("copy", "the host writes a tile's memory");
        CopyToTile copy;
        copy.from = read_reference(node, "from", program_.external_buffers, "external buffer");
        node.optional("offset", copy.offset, kAddress, "bytes into it");
        node.required("bytes", copy.bytes, kAddress, "length");
        copy.to = read_reference(node, "to", program_.buffers, "buffer");
        node.done();
        program_.sequence.push_back(copy);
    }

    Node& root_;
    Program program_;
};

}  // namespace

Program read_program(Node& root) {
    return Reader(root).run();
}

}  // namespace tilesim::arch::npu::program
