#include "arch/npu/program/script_reader.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "arch/npu/program/entry_reader.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

namespace {

std::optional<std::int64_t> optional_rotation(Node& node, const char* key,
                                              const CoreProgram& core) {
    if (!node.has(key)) {
        return std::nullopt;
    }
    std::string name;
    node.optional(key, name, "rotation");
    return name.empty() ? 0 : find_name(node, key, core.rotations, name, "rotation");
}

std::optional<std::int64_t> optional_number(Node& node, const char* key, Range range,
                                            const char* description) {
    if (!node.has(key)) {
        return std::nullopt;
    }
    std::int64_t number = 0;
    node.optional(key, number, range, description);
    return number;
}

constexpr Range kRegister{0, 1 << 20};
constexpr Range kWordValue{-(std::int64_t{1} << 31), (std::int64_t{1} << 32) - 1};

// What a core gets.
WordPlace read_place(Node& node, const char* operand, const CoreProgram& core) {
    WordPlace place;
    place.operand = optional_rotation(node, operand, core);
    node.optional("advance", place.advance, "the rotation moves on behind it");
    place.in_register =
        optional_number(node, "in_register", kRegister, "number: words got, to be put again");
    return place;
}
// What it puts may also be a word that is known.
WordPlace read_put_place(Node& node, const CoreProgram& core) {
    WordPlace place = read_place(node, "from", core);
    place.value = optional_number(node, "value", kWordValue, "of the first word");
    return place;
}

template <class Op>
Op cascade(Node node, const CoreProgram& core) {
    Op op;
    node.required("words", op.words, {1, 1 << 20}, "of 512 bits");
    op.place = std::is_same_v<Op, PutCascadeOp> ? read_put_place(node, core)
                                                : read_place(node, "into", core);
    node.done();
    return op;
}

template <class Op>
Op own_stream(Node node, const CoreProgram& core) {
    Op op;
    node.optional("port", op.port, {0, 7}, "of the core's inputs or outputs");
    node.required("words", op.words, {1, 1 << 20}, "of 32 bits");
    op.place = std::is_same_v<Op, PutStreamOp> ? read_put_place(node, core)
                                               : read_place(node, "into", core);
    if constexpr (std::is_same_v<Op, PutStreamOp>) {
        op.packet = optional_number(
            node, "packet", kPacketIdRange,
            "id in the header, which is the first word where no packet is under way");
        node.optional("ends_packet", op.ends_packet, "with its last word (TLAST)");
    }
    node.done();
    return op;
}

LoopOp read_loop(Node node) {
    LoopOp loop;
    if (node.offers("parameter")) {
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

void read_walk(Node& entry, Rotation& rotation) {
    entry.optional("length", rotation.length, {0, 1 << 20},
                   "words at a time of a walk through the buffer; 0: it takes turns");
    entry.optional("offset", rotation.offset, {0, 1 << 20}, "words to where the walk begins");
    for (Node& each : entry.list("dimensions", "[size, stride] of the walk, innermost first")) {
        const auto pair = pair_of(each);
        rotation.dimensions.push_back({pair[0], pair[1]});
    }
}

}  // namespace

CoreProgram ScriptReader::core(Node& entry) const {
    CoreProgram core;
    core.where = entry.place();
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
        read_walk(each, rotation);
        if (rotation.buffers.empty()) {
            each.error("buffers", "must name at least one buffer");
        }
        each.done();
        core.rotations.push_back(rotation);
    }
    for (Node& each : entry.list("parameters", "run-time parameters at the start, by index")) {
        core.parameters.push_back(each.integer({INT32_MIN, INT32_MAX}));
    }
    core.script = script(entry, "script", core);
    constexpr Range kEnabled{0, std::int64_t{1} << 40};
    entry.optional("enabled", core.enabled, kEnabled,
                   "cycles from the array's start until the core is enabled");
    entry.done();
    return core;
}

std::vector<CoreOp> ScriptReader::script(Node& node, const char* key,
                                         const CoreProgram& core) const {
    std::vector<CoreOp> ops;
    for (Node& entry : node.list(key, "core operations in order")) {
        const auto add = [&](auto op) { ops.push_back({std::move(op), entry.place()}); };
        const auto action_of = [&](const char* name, const char* description) {
            return locks_.action(entry.child(name, description));
        };
        read_one(
            entry,
            {{"acquire", [&] { add(AcquireOp{action_of("acquire", "waits for a lock")}); }},
             {"release", [&] { add(ReleaseOp{action_of("release", "releases a lock")}); }},
             {"call", [&] { add(call(entry.child("call", "runs a kernel"), core)); }},
             {"put",
              [&] {
                  add(cascade<PutCascadeOp>(entry.child("put", "words to the outgoing cascade"),
                                            core));
              }},
             {"get",
              [&] {
                  add(cascade<GetCascadeOp>(entry.child("get", "words from the incoming cascade"),
                                            core));
              }},
             {"put_stream",
              [&] {
                  add(own_stream<PutStreamOp>(
                      entry.child("put_stream", "words to the core's own stream output"), core));
              }},
             {"get_stream",
              [&] {
                  add(own_stream<GetStreamOp>(
                      entry.child("get_stream", "words from the core's own stream input"), core));
              }},
             {"loop", [&] {
                  LoopOp loop = read_loop(entry.child("loop", "repeats the body"));
                  loop.body = loop_body(entry, core);
                  add(std::move(loop));
              }}});
    }
    return ops;
}

std::vector<CoreOp> ScriptReader::loop_body(Node& entry, const CoreProgram& core) const {
    if (entry.describing()) {  // as the script, which describes it
        entry.list("body", "core operations in order");
        return {};
    }
    return script(entry, "body", core);
}

CallOp ScriptReader::call(Node node, const CoreProgram& core) const {
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

}  // namespace tilesim::arch::npu::program
