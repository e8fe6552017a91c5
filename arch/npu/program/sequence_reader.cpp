#include "arch/npu/program/sequence_reader.hpp"

#include <cstdint>
#include <utility>

#include "arch/npu/program/descriptor_reader.hpp"
#include "arch/npu/program/reader_values.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;

namespace {

class SequenceReader {
  public:
    explicit SequenceReader(const Program& program) : program_(program) {}

    void operation(Node& entry) {
        const auto add = [this](auto operation) { sequence_.push_back(std::move(operation)); };
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
                  add(PushTask{to, read_task(node)});
                  node.done();
              }},
             {"wait", [&] { add(WaitToken{channel_of("wait", "takes a completion token")}); }},
             {"wait_idle",
              [&] { add(WaitIdle{channel_of("wait_idle", "polls until it has no task")}); }},
             {"write_parameter", [&] { write_parameter(entry); }},
             {"set_lock", [&] { set_lock(entry); }},
             {"acquire",
              [&] {
                  add(AcquireLock{read_lock_action(
                      entry.child("acquire", "the host acquires a lock"), program_.locks)});
              }},
             {"copy", [&] { copy(entry); }},
             {"reset_channel",
              [&] {
                  add(ResetChannel{channel_of("reset_channel", "drops its queue and its task")});
              }},
             {"reset_core", [&] { add(ResetCore{read_tile(entry, "reset_core")}); }}});
    }

    std::vector<SequenceOp> take() { return std::move(sequence_); }

  private:
    void write_descriptor(Node& entry) {
        Node node = entry.child("write_descriptor", "writes a descriptor");
        const TileCoordinate tile = read_tile(node);
        sequence_.push_back(WriteDescriptor{
            tile,
            read_descriptor(node.child("descriptor", "what is written"), program_, tile.row == 0)});
        node.done();
    }

    void write_parameter(Node& entry) {
        Node node = entry.child("write_parameter", "sets a run-time parameter");
        WriteParameter write;
        write.tile = read_tile(node);
        node.required("index", write.index, {0, 1023}, "which");
        node.required("value", write.value, {INT32_MIN, INT32_MAX}, "value");
        node.done();
        sequence_.push_back(write);
    }

    void set_lock(Node& entry) {
        Node node = entry.child("set_lock", "sets a lock's value");
        SetLock set;
        set.lock = read_reference(node, "lock", program_.locks, "lock");
        node.required("value", set.value, {0, 63}, "value");
        node.done();
        sequence_.push_back(set);
    }

    void copy(Node& entry) {
        Node node = entry.child("copy", "the host writes a tile's memory");
        CopyToTile copy;
        copy.from = read_reference(node, "from", program_.external_buffers, "external buffer");
        node.optional("offset", copy.offset, kAddress, "bytes into it");
        node.required("bytes", copy.bytes, kAddress, "length");
        copy.to = read_reference(node, "to", program_.buffers, "buffer");
        node.done();
        sequence_.push_back(copy);
    }

    const Program& program_;
    std::vector<SequenceOp> sequence_;
};

}  // namespace

std::vector<SequenceOp> read_sequence(Node& root, const Program& program) {
    SequenceReader reader(program);
    for (Node& entry : root.list("sequence", "what the command processor executes")) {
        reader.operation(entry);
    }
    return reader.take();
}

}  // namespace tilesim::arch::npu::program
