#include "arch/npu/program/sequence_reader.hpp"

#include <utility>

#include "arch/npu/program/entry_reader.hpp"

namespace tilesim::arch::npu::program {

using base::config::Node;
using base::config::Range;

namespace {

constexpr std::int64_t kMostQueued = 15;  // more than any queue holds

}

void SequenceReader::read(Node& entry) {
    const std::size_t first = program_.sequence.size();
    const auto add = [this](auto operation) { program_.sequence.push_back(std::move(operation)); };
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
              add(PushTask{to, DescriptorReader::task(node)});
              node.done();
          }},
         {"wait", [&] { add(WaitToken{channel_of("wait", "takes a completion token")}); }},
         {"wait_idle", [&] { wait_idle(entry); }},
         {"write_parameter", [&] { write_parameter(entry); }},
         {"set_lock", [&] { set_lock(entry); }},
         {"acquire",
          [&] {
              add(AcquireLock{
                  descriptors_.action(entry.child("acquire", "the host acquires a lock"))});
          }},
         {"copy", [&] { copy(entry); }},
         {"reset_channel",
          [&] { add(ResetChannel{channel_of("reset_channel", "drops its queue and its task")}); }},
         {"reset_core", [&] { add(ResetCore{read_tile(entry, "reset_core")}); }},
         {"write_registers", [&] {
              WriteRegisters write;
              // There where this is called; every other operation is one without it.
              entry.optional("write_registers", write.writes, {1, 1 << 30},
                             "so many writes of registers of which nothing here depends");
              add(write);
          }}});
    set_where(program_.sequence, first, entry.place());
}

void SequenceReader::write_descriptor(Node& entry) {
    Node node = entry.child("write_descriptor", "writes a descriptor");
    const TileCoordinate tile = read_tile(node);
    program_.sequence.push_back(WriteDescriptor{
        tile, descriptors_.descriptor(node.child("descriptor", "what is written"), tile.row == 0)});
    node.done();
}

void SequenceReader::wait_idle(Node& entry) {
    Node node = entry.child("wait_idle", "polls a channel until it has no task");
    WaitIdle wait;
    if (node.offers("queued")) {
        std::int64_t queued = 0;
        node.optional("queued", queued, {0, kMostQueued}, "or so many wait in its queue at most");
        wait.queued = queued;
    }
    wait.channel = read_channel(node);
    program_.sequence.push_back(wait);
}

void SequenceReader::write_parameter(Node& entry) {
    Node node = entry.child("write_parameter", "sets a run-time parameter");
    WriteParameter write;
    write.tile = read_tile(node);
    node.required("index", write.index, {0, 1023}, "which");
    node.required("value", write.value, {INT32_MIN, UINT32_MAX},
                  "value: a word, with or without sign");
    node.done();
    program_.sequence.push_back(write);
}

void SequenceReader::set_lock(Node& entry) {
    Node node = entry.child("set_lock", "sets a lock's value");
    SetLock set;
    set.lock = read_reference(node, "lock", program_.locks, "lock");
    node.required("value", set.value, {0, 63}, "value");
    node.done();
    program_.sequence.push_back(set);
}

void SequenceReader::copy(Node& entry) {
    Node node = entry.child("copy", "the host writes a tile's memory");
    CopyToTile copy;
    copy.from = read_reference(node, "from", program_.external_buffers, "external buffer");
    node.optional("offset", copy.offset, kAddress, "bytes into it");
    node.required("bytes", copy.bytes, kAddress, "length");
    copy.to = read_reference(node, "to", program_.buffers, "buffer");
    node.done();
    program_.sequence.push_back(copy);
}

}  // namespace tilesim::arch::npu::program
