#include "workloads/npu/mlir/sequence/sequence_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/descriptors/descriptor_chain.hpp"
#include "workloads/npu/mlir/descriptors/descriptor_layout.hpp"
#include "workloads/npu/mlir/descriptors/transfer.hpp"
#include "workloads/npu/mlir/registers/sequence_operands.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/constant_folding.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/unknown_attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using descriptors::Chain;
using descriptors::factor_dimensions;
using descriptors::note_ignored;
using descriptors::read_chain;
using registers::allocation;

namespace {

// Of one start, which is split into tasks of as many runs as hardware counts.
constexpr std::int64_t kMostRepeats = (1 << 20) - 1;

}  // namespace

void SequenceTasks::configure_task(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    add_task(operation, region_of(operation), channel_of(cursor), scope, scope);
}

program::ChannelId SequenceTasks::channel_of(Cursor& cursor) const {
    if (cursor.peek() != nullptr && cursor.peek()->is(TokenKind::Symbol)) {
        const Location where = cursor.where();
        return allocation(lowering_, cursor.symbol(), where);
    }
    Cursor inside(cursor.group("("));
    const program::TileCoordinate tile = lowering_.tile(inside);
    inside.expect(",");
    return read_channel(inside, tile);
}

// The @symbol a task is for: dma_configure_task_for @x, dma_start_bd_chain_for @chain(..) .. for
// @x.
std::string SequenceTasks::allocation_of(const Operation& operation) {
    std::string symbol;
    for (const Item& item : operation.items) {
        if (item.is(TokenKind::Symbol)) {
            symbol = item.token.text;
        }
    }
    return symbol;
}

// dma_configure_task(%tile, MM2S, 0, <pkt_type = 0, pkt_id = 1>), or that of its allocation.
std::optional<program::Packet> SequenceTasks::packet_of(const Operation& operation) const {
    if (operation.name == "aiex.dma_configure_task") {
        Cursor cursor(operation);
        for (const Item& item : cursor.group("(").items) {
            if (item.opens("<")) {
                return descriptors::read_packet({item}, operation.where);
            }
        }
    }
    const auto packet = lowering_.allocation_packets.find(allocation_of(operation));
    return packet == lowering_.allocation_packets.end() ? std::nullopt
                                                        : std::optional{packet->second};
}

// dma_configure_task(%tile, MM2S, 0) repeat %n : i32 bd_id %taken : i32 { .. }, or
// dma_start_task(%t) repeat %n : i32
SequenceTasks::Heading SequenceTasks::heading_of(const Operation& operation, const Scope& names) {
    Heading heading;
    Cursor cursor(operation);
    while (!cursor.done()) {
        if (cursor.skip_word("bd_id")) {
            heading.descriptor = names.integer(cursor);
        } else if (cursor.skip_word("repeat")) {
            heading.repeats = names.integer(cursor);
        } else if (cursor.skip(":") || cursor.skip("->")) {
            if (!cursor.done()) {
                cursor.take();  // a type
            }
        } else if (!cursor.peek()->is(TokenKind::Word) || cursor.skip_word("on") ||
                   cursor.skip_word("for")) {
            if (!cursor.done()) {
                cursor.take();
            }
        } else {
            throw ReadError(cursor.where(),
                            fmt::format("'{}' of a task is not modelled; known are repeat, bd_id",
                                        cursor.word()));
        }
    }
    if (!heading.repeats) {
        heading.repeats = integer_attribute(operation, "repeat_count");
    }
    if (heading.repeats.value_or(0) < 0 || heading.repeats.value_or(0) > kMostRepeats) {
        throw ReadError(operation.where, fmt::format("a task is repeated 0..{} times, not {}",
                                                     kMostRepeats, *heading.repeats));
    }
    return heading;
}

// {interleave = [@b, @c]} of a task for @a: its transfers, one each, have the headers of these,
// which share a channel.
void SequenceTasks::interleave(const Operation& operation, std::int64_t runs, Chain& chain) const {
    const auto others = operation.attribute("interleave");
    if (!others) {
        return;
    }
    std::vector<std::string> names{allocation_of(operation)};
    for (const Item& list : *others) {
        for (const Item& item : list.items) {
            if (item.is(TokenKind::Symbol)) {
                names.push_back(item.token.text);
            }
        }
    }
    if (names.size() != chain.descriptors.size()) {
        throw ReadError(operation.where,
                        fmt::format("interleave makes this a task of {} object FIFOs, with a "
                                    "transfer each; it has {}",
                                    names.size(), chain.descriptors.size()));
    }
    const program::ChannelId channel = allocation(lowering_, names.front(), operation.where);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto packet = lowering_.allocation_packets.find(names[i]);
        if (allocation(lowering_, names[i], operation.where) != channel ||
            packet == lowering_.allocation_packets.end()) {
            throw ReadError(operation.where,
                            fmt::format("interleave is of packets of one channel; those of @{} are "
                                        "none of @{}'s",
                                        names[i], names.front()));
        }
        if (const std::int64_t size = chain.outer_sizes[i]; size != 1 && size != runs) {
            throw ReadError(operation.where,
                            fmt::format("interleave takes turns: the outermost size of the "
                                        "transfer for @{}, {}, must be the {} runs of the task",
                                        names[i], size, runs));
        }
        chain.descriptors[i].packet = packet->second;
    }
}

SequenceTasks::Task& SequenceTasks::add_task(const Operation& operation, const Item& region,
                                             const program::ChannelId& channel, const Scope& names,
                                             Scope& results) {
    Scope inner(&names);
    walk(region, [&](const Operation& each) {
        define_constant(each, inner);
        if (const auto id = integer_attribute(each, "bd_id"); id && each.name == "aie.dma_bd") {
            ids_.take(channel.tile, *id);
        }
    });
    static const std::set<std::string_view> kKnown{
        "issue_token", "repeat_count",        "out_of_order", "enable_out_of_order", "packet",
        "bd_id",       "operandSegmentSizes", "iteration_t",  "interleave"};  // IRON's own count
    note_unknown_attributes(lowering_, operation, kKnown);
    const auto [given, repeats] = heading_of(operation, names);
    if (given) {
        ids_.give(std::pair{channel.tile, *given});
    }
    std::map<const Block*, std::int64_t> by_block;
    Chain chain = read_chain(lowering_, region, region.blocks.front(), channel, inner, ids_,
                             by_block, packet_of(operation));
    ids_.give({});
    if (chain.descriptors.empty()) {
        throw ReadError(operation.where, "this task has no transfer");
    }
    note_ignored(lowering_, chain);
    // A fourth dimension counts the runs that repeat_count states; without one it states them.
    const std::int64_t runs = repeats ? *repeats + 1 : chain.repeat;
    interleave(operation, runs, chain);
    Task task{channel, {channel, {}}, {}};
    for (program::BufferDescriptor& descriptor : chain.descriptors) {
        factor_dimensions(descriptor,
                          lowering_.config.dma_of(lowering_.config.kind_of(channel.tile)));
    }
    for (const program::BufferDescriptor& descriptor : chain.descriptors) {
        registers_.forget(channel.tile, descriptor.id);
        lowering_.program.sequence.push_back(program::WriteDescriptor{channel.tile, descriptor});
        task.descriptors.push_back(descriptor.id);
    }
    task.push.task.descriptor = chain.descriptors.front().id;
    task.push.task.repeat = runs;
    task.push.task.token = is_true(operation, "issue_token");
    task.push.task.out_of_order = is_out_of_order(operation);
    if (operation.results.size() == 1) {
        results.define(operation.results[0],
                       {Value::Kind::Task, static_cast<std::int64_t>(tasks_.size())});
    }
    tasks_.push_back(std::move(task));
    return tasks_.back();
}

void SequenceTasks::start_bd_chain(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    const Location where = cursor.where();
    const std::string symbol = cursor.symbol();
    const Operation* chain = nullptr;
    std::vector<std::string> known;
    for (const Operation& each : lowering_.body()) {
        if (each.name == "aie.bd_chain") {
            known.push_back(Cursor(each).symbol());
            chain = known.back() == symbol ? &each : chain;
        }
    }
    if (chain == nullptr) {
        throw syntax::unknown_symbol(where, "aie.bd_chain", symbol, known);
    }
    Scope inner(&lowering_.names);
    Cursor given(cursor.group("("));
    Cursor head(*chain);
    head.symbol();
    Cursor formal(head.group("("));
    while (!formal.done() && !given.done()) {
        const std::string name = formal.value();
        const Location at = given.where();
        const Value* value = scope.find(given.value());
        if (value == nullptr) {
            throw ReadError(at, "this argument is no buffer or lock known here");
        }
        inner.define(name, *value);
        given.skip(",");
        while (!formal.done() && !formal.skip(",")) {
            formal.take();
        }
    }
    while (!cursor.done() && !cursor.skip_word("on") && !cursor.skip_word("for")) {
        cursor.take();
    }
    const program::ChannelId channel = channel_of(cursor);
    push(add_task(operation, region_of(*chain), channel, inner, scope).push);
}

void SequenceTasks::pool_pop(const Operation& operation, Scope& scope) {
    const program::ChannelId channel = pool_of(operation, scope);
    if (operation.results.size() != 1) {
        throw ReadError(operation.where, "a descriptor taken from a pool needs a name");
    }
    Cursor cursor(operation);
    cursor.group("(");
    std::int64_t id = 0;
    if (cursor.skip_word("partition")) {  // [0, 16): which descriptors it takes
        Cursor range(cursor.group("["));
        const std::int64_t first = scope.integer(range);
        range.expect(",");
        const Location where = range.where();
        const std::int64_t end = scope.integer(range);
        const std::int64_t most =
            lowering_.config.dma_of(lowering_.config.kind_of(channel.tile)).descriptors;
        if (first < 0 || end > most) {
            throw ReadError(where, fmt::format("tile {},{} has descriptors 0..{}",
                                               channel.tile.column, channel.tile.row, most - 1));
        }
        id = ids_.next_of(channel, first, end, operation.where);
    } else {
        id = ids_.next(channel, operation.where);
    }
    scope.define(operation.results[0], {Value::Kind::Constant, id});
}

void SequenceTasks::pool_push(const Operation& operation, Scope& scope) {
    const program::ChannelId channel = pool_of(operation, scope);
    Cursor cursor(operation);
    cursor.group("(");
    if (!cursor.skip_word("bd_id")) {
        cursor.fail("'bd_id'");
    }
    ids_.free(channel.tile, scope.integer(cursor));
}

program::ChannelId SequenceTasks::pool_of(const Operation& operation, const Scope& scope) const {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    program::ChannelId channel;
    channel.tile.column = scope.integer(inside);
    inside.expect(",");
    channel.tile.row = scope.integer(inside);
    if (inside.skip(",")) {  // a shim tile's descriptors serve any channel
        channel.index = scope.integer(inside);
    }
    if (!lowering_.config.contains(channel.tile)) {
        throw ReadError(operation.where, "this tile is outside the array");
    }
    return channel;
}

SequenceTasks::Task& SequenceTasks::task(const Operation& operation, const Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    return tasks_[static_cast<std::size_t>(scope.index_of(inside, Value::Kind::Task))];
}

// dma_start_task(%t) {repeat_count = 3 : i32, no_token}: of this start alone (autumn of 2026).
void SequenceTasks::start_task(const Operation& operation, Scope& scope) {
    program::PushTask start = task(operation, scope).push;
    if (const auto repeats = heading_of(operation, scope).repeats) {
        start.task.repeat = *repeats + 1;
    }
    start.task.token = start.task.token && !is_true(operation, "no_token");
    push(start);
}

// More runs than a task counts are several, of which the last has the token; where these would
// fill the queue alone, each further one waits for room. So the compiler makes them since the
// autumn of 2026.
void SequenceTasks::push(program::PushTask start) {
    const DmaConfig& dma = lowering_.config.dma_of(lowering_.config.kind_of(start.channel.tile));
    const std::int64_t runs = start.task.repeat;
    std::int64_t parts = 0;
    for (std::int64_t begun = 0; begun < runs;) {
        program::PushTask part = start;
        part.task.repeat = std::min(dma.repeats, runs - begun);
        begun += part.task.repeat;
        if (++parts > dma.task_queue_depth) {
            lowering_.program.sequence.push_back(
                program::WaitIdle{start.channel, dma.task_queue_depth - 1});
        }
        part.task.token = start.task.token && begun == runs;
        lowering_.program.sequence.push_back(part);
    }
}

void SequenceTasks::await_task(const Operation& operation, Scope& scope) {
    const Task& awaited = task(operation, scope);
    if (!awaited.push.task.token) {
        throw ReadError(operation.where,
                        "this task issues no token: it needs {issue_token = true}");
    }
    lowering_.program.sequence.push_back(program::WaitToken{awaited.channel});
    release(awaited);
}

void SequenceTasks::free_task(const Operation& operation, Scope& scope) {
    release(task(operation, scope));
}

void SequenceTasks::release(const Task& finished) {
    for (const std::int64_t id : finished.descriptors) {
        ids_.free(finished.channel.tile, id);
    }
}

}  // namespace tilesim::workloads::npu::mlir::sequence
