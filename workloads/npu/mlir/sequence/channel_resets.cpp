#include "workloads/npu/mlir/sequence/channel_resets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

void ChannelResets::channel_reset(const Operation& operation, Scope&) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const program::TileCoordinate tile = lowering_.tile(inside);
    inside.expect(",");
    lowering_.program.sequence.push_back(program::ResetChannel{read_channel(inside, tile)});
}

void ChannelResets::channel_reset_for(const Operation& operation, Scope&) {
    Cursor cursor(operation);
    std::string symbol;
    if (!cursor.done() && cursor.peek()->opens("(")) {
        Cursor inside(cursor.take());
        symbol = inside.symbol();
    } else {
        symbol = cursor.symbol();
    }
    for (const Operation& each : lowering_.body()) {
        if (each.name == "aie.objectfifo_rearm_binding" && symbol_of(each) == symbol) {
            rearm(each);
            return;
        }
    }
    const ObjectFifo& fifo = fifo_named(lowering_, symbol, operation.where);
    auto& sequence = lowering_.program.sequence;
    for (const auto& [channel, task] : fifo.started) {
        sequence.push_back(program::ResetChannel{channel});
    }
    for (const auto* end : ends_of(fifo)) {
        for (const LockPair& pair : lowering_.fifo_pools[*end->pool].locks) {
            for (const std::int64_t lock : std::set{pair.producer, pair.consumer}) {
                const auto index = static_cast<std::size_t>(lock);
                sequence.push_back(program::SetLock{lock, lowering_.program.locks[index].initial});
            }
        }
    }
    for (const auto& [channel, task] : fifo.started) {
        sequence.push_back(program::PushTask{channel, task});
    }
}

void ChannelResets::core_reset(const Operation& operation, Scope&) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    lowering_.program.sequence.push_back(program::ResetCore{lowering_.tile(inside)});
}

void ChannelResets::rearm(const Operation& binding) {
    Cursor cursor(binding);
    const std::string symbol = cursor.symbol();
    std::vector<program::TileCoordinate> tiles;
    std::vector<std::int64_t> locks;
    while (!cursor.done() && cursor.peek()->kind == Item::Kind::Token) {
        const std::string of = cursor.word();
        Cursor list(cursor.group("("));
        while (!list.done() && list.peek()->is(TokenKind::Value)) {
            if (of == "channels") {
                tiles.push_back(lowering_.tile(list));
            } else {
                locks.push_back(lowering_.names.index_of(list, Value::Kind::Lock));
            }
            list.skip(",");
        }
    }
    const auto directions = integers_attribute(binding, "channel_dirs");
    const auto channels = integers_attribute(binding, "channel_indices");
    const auto values = integers_attribute(binding, "lock_inits");
    auto heads = integers_attribute(binding, "head_bd_ids");
    auto repeats = integers_attribute(binding, "repeat_counts");
    if (directions.size() != tiles.size() || channels.size() != tiles.size() ||
        values.size() != locks.size() || (!heads.empty() && heads.size() != tiles.size()) ||
        (!repeats.empty() && repeats.size() != tiles.size())) {
        throw ReadError(
            binding.where,
            fmt::format("@{}: its lists of channels and locks differ in length", symbol));
    }
    auto& sequence = lowering_.program.sequence;
    std::vector<program::PushTask> pushes;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const program::ChannelId channel{
            tiles[i], directions[i] == 0 ? program::Direction::S2MM : program::Direction::MM2S,
            channels[i]};
        sequence.push_back(program::ResetChannel{channel});
        pushes.push_back({channel, heads.empty() || repeats.empty()
                                       ? started_task(channel, binding.where)
                                       : program::Task{heads[i], repeats[i] + 1}});
    }
    for (std::size_t i = 0; i < locks.size(); ++i) {
        sequence.push_back(program::SetLock{locks[i], values[i]});
    }
    sequence.insert(sequence.end(), pushes.begin(), pushes.end());
}

program::Task ChannelResets::started_task(const program::ChannelId& channel, Location where) {
    for (const auto& start : lowering_.dma_of(channel.tile).starts) {
        if (start.direction == channel.direction && start.channel == channel.index) {
            return start.task;
        }
    }
    throw ReadError(where, "this names a channel that nothing starts");
}

std::vector<const FifoEnd*> ChannelResets::ends_of(const ObjectFifo& fifo) {
    std::vector<const FifoEnd*> ends;
    if (fifo.producer.pool) {
        ends.push_back(&fifo.producer);
    }
    for (const FifoEnd& end : fifo.consumers) {
        if (end.pool && end.pool != fifo.producer.pool) {
            ends.push_back(&end);
        }
    }
    return ends;
}

}  // namespace tilesim::workloads::npu::mlir::sequence
