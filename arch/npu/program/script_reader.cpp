#include "arch/npu/program/script_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "arch/npu/program/reader_values.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

namespace {

class ScriptReader {
  public:
    ScriptReader(const Program& program, const CoreProgram& core)
        : program_(program), rotations_(core.rotations) {}

    std::vector<CoreOp> script(Node& node, const char* key) {
        std::vector<CoreOp> ops;
        for (Node& entry : node.list(key, "core operations in order")) {
            const auto add = [&ops](auto op) { ops.push_back({std::move(op)}); };
            const auto action_of = [&](const char* name, const char* description) {
                return read_lock_action(entry.child(name, description), program_.locks);
            };
            read_one(
                entry,
                {{"acquire", [&] { add(AcquireOp{action_of("acquire", "waits for a lock")}); }},
                 {"release", [&] { add(ReleaseOp{action_of("release", "releases a lock")}); }},
                 {"call", [&] { add(call(entry.child("call", "runs a kernel"))); }},
                 {"put",
                  [&] {
                      add(cascade<PutCascadeOp>(entry.child("put", "words to the outgoing cascade"),
                                                "from"));
                  }},
                 {"get",
                  [&] {
                      add(cascade<GetCascadeOp>(
                          entry.child("get", "words from the incoming cascade"), "into"));
                  }},
                 {"put_stream",
                  [&] {
                      add(own_stream<PutStreamOp>(
                          entry.child("put_stream", "words to the core's own stream output"),
                          "from"));
                  }},
                 {"get_stream",
                  [&] {
                      add(own_stream<GetStreamOp>(
                          entry.child("get_stream", "words from the core's own stream input"),
                          "into"));
                  }},
                 {"loop", [&] {
                      LoopOp loop = read_loop(entry.child("loop", "repeats the body"));
                      loop.body = loop_body(entry);
                      add(std::move(loop));
                  }}});
        }
        return ops;
    }

  private:
    std::vector<CoreOp> loop_body(Node& entry) {
        if (entry.describing()) {  // as the script, which describes it
            entry.list("body", "core operations in order");
            return {};
        }
        return script(entry, "body");
    }

    template <class Op>
    Op cascade(Node node, const char* operand) {
        Op op;
        node.required("words", op.words, {1, 1 << 20}, "of 512 bits");
        op.operand = optional_rotation(node, operand);
        node.done();
        return op;
    }

    template <class Op>
    Op own_stream(Node node, const char* operand) {
        Op op;
        node.optional("port", op.port, {0, 7}, "of the core's inputs or outputs");
        node.required("words", op.words, {1, 1 << 20}, "of 32 bits");
        op.operand = optional_rotation(node, operand);
        if constexpr (std::is_same_v<Op, PutStreamOp>) {
            read_if_there(node, "packet", op.packet, kPacketIdRange,
                          "id in the header, which is the first word where no packet is under way");
            node.optional("ends_packet", op.ends_packet, "with its last word (TLAST)");
        }
        node.done();
        return op;
    }

    std::optional<std::int64_t> optional_rotation(Node& node, const char* key) {
        if (!node.has(key)) {
            return std::nullopt;
        }
        std::string name;
        node.optional(key, name, "rotation");
        return name.empty() ? 0 : find_name(node, key, rotations_, name, "rotation");
    }

    LoopOp read_loop(Node node) {
        LoopOp loop;
        read_if_there(node, "parameter", loop.parameter, {0, 1023},
                      "run-time parameter with the count");
        constexpr Range kTimes{-1, INT64_MAX};
        if (node.describing()) {  // either is enough
            node.optional("count", loop.count, kTimes, "times; -1: for ever");
        } else if (!loop.parameter) {
            node.required("count", loop.count, kTimes, "times; -1: for ever");
        }
        node.done();
        return loop;
    }

    CallOp call(Node node) {
        CallOp op;
        op.kernel = read_reference(node, "kernel", program_.kernels, "kernel");
        const auto names = [&](const char* key, std::vector<std::int64_t>& into) {
            for (Node& entry : node.list(key, "rotations")) {
                into.push_back(find_name(entry, "", rotations_, entry.scalar(), "rotation"));
            }
        };
        names("operands", op.operands);
        names("advance", op.advance);
        node.done();
        return op;
    }

    const Program& program_;
    const std::vector<Rotation>& rotations_;
};

}  // namespace

std::vector<CoreOp> read_script(Node& node, const Program& program, const CoreProgram& core) {
    return ScriptReader(program, core).script(node, "script");
}

}  // namespace tilesim::arch::npu::program
