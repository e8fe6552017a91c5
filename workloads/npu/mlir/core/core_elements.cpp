#include "workloads/npu/mlir/core/core_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tilesim::workloads::npu::mlir::core {

void CoreElements::acquire(const Operation& operation, Scope& scope, Script& ops) {
    for (const std::string& result : operation.results) {
        scope.forget(result);
    }
    const FifoUse use = read_fifo_use(lowering_, operation);
    for (const std::string& result : operation.results) {
        acquired_[result] = use.count;
    }
    auto& [next, held] = held_of(use);
    const std::int64_t from = held;
    held = std::max(held, use.count);
    move_elements(operation, use, next, from, held, ops);
}

void CoreElements::access(const Operation& operation) const {
    Cursor cursor(operation);
    const auto acquired = acquired_.find(cursor.value());
    Cursor number(cursor.group("["));
    const Location where = number.where();
    const std::int64_t element = number.integer();
    if (acquired != acquired_.end() && (element < 0 || element >= acquired->second)) {
        throw ReadError(where, fmt::format("of the {} elements that are acquired this takes "
                                           "number {}, counted from 0",
                                           acquired->second, element));
    }
}

void CoreElements::release(const Operation& operation, Script& ops) {
    const FifoUse use = read_fifo_use(lowering_, operation);
    end_of(operation, use);  // there are elements at all
    auto& [next, held] = held_of(use);
    if (use.count > held) {
        throw ReadError(operation.where, fmt::format("the core releases {} elements and holds "
                                                     "{}",
                                                     use.count, held));
    }
    held -= use.count;
    give_elements(operation, use, next, ops);
}

void CoreElements::name_locks(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    const std::string name = cursor.symbol();
    Cursor inside(cursor.group("("));
    const bool produces = inside.word() == "Produce";
    const FifoPool& pool = pool_at(name, produces, operation.where);
    if (pool.locks.empty() || operation.results.size() != 2) {
        throw ReadError(operation.where, fmt::format("@{} has no two locks to name here", name));
    }
    const LockPair& pair = pool.locks.front();
    const std::int64_t acquired = produces ? pair.producer : pair.consumer;
    const std::int64_t released = produces ? pair.consumer : pair.producer;
    scope.define(operation.results[0], {Value::Kind::Lock, acquired});
    scope.define(operation.results[1], {Value::Kind::Lock, released});
    named_locks_.insert({acquired, released});
}

void CoreElements::name_buffer(const Operation& operation, Scope& scope) const {
    Cursor cursor(operation);
    const std::string name = cursor.symbol();
    Cursor inside(cursor.group("("));
    const std::int64_t number = inside.integer();
    const FifoPool& pool = pool_at(name, std::nullopt, operation.where);
    if (number < 0 || number >= static_cast<std::int64_t>(pool.buffers.size()) ||
        operation.results.size() != 1) {
        throw ReadError(operation.where,
                        fmt::format("the buffers of @{} are 0..{}", name, pool.buffers.size() - 1));
    }
    scope.define(operation.results.front(),
                 {Value::Kind::Buffer, pool.buffers[static_cast<std::size_t>(number)]});
}

bool CoreElements::serves(const std::vector<std::int64_t>& locks) const {
    return std::any_of(locks.begin(), locks.end(),
                       [this](std::int64_t lock) { return named_locks_.contains(lock); });
}

// Of the end at this core; without a port of the one it has.
const FifoPool& CoreElements::pool_at(const std::string& name, std::optional<bool> produces,
                                      Location where) const {
    const ObjectFifo& fifo = fifo_named(lowering_, name, where);
    const FifoEnd* end = fifo.end_at(tile_, produces.value_or(true));
    end = end == nullptr && !produces ? fifo.end_at(tile_, false) : end;
    if (end == nullptr || !end->pool) {
        throw ReadError(where, fmt::format("this core is no such end of @{}", name));
    }
    return lowering_.fifo_pools[*end->pool];
}

std::pair<std::int64_t, std::int64_t>& CoreElements::held_of(const FifoUse& use) {
    return held_[static_cast<std::int64_t>(use.fifo) * 2 + (use.produces ? 1 : 0)];
}

const FifoEnd& CoreElements::end_of(const Operation& operation, const FifoUse& use) const {
    const ObjectFifo& fifo = lowering_.fifos[use.fifo];
    const FifoEnd* end = fifo.end_at(tile_, use.produces);
    if (end != nullptr && end->stream_port) {
        throw ReadError(operation.where,
                        fmt::format("the end of @{} at this core is the core's own stream: it "
                                    "has no elements to acquire or release",
                                    fifo.name));
    }
    if (end == nullptr || !end->pool) {
        throw ReadError(operation.where,
                        fmt::format("this core is no {} of @{}",
                                    use.produces ? "producer" : "consumer", fifo.name));
    }
    return *end;
}

std::vector<LockPair> CoreElements::locks_of(const FifoEnd& end) const {
    const FifoPool& pool = lowering_.fifo_pools[*end.pool];
    if (end.segments.empty()) {
        return {pool.locks.front()};
    }
    std::vector<LockPair> locks;
    for (const std::size_t segment : end.segments) {
        locks.push_back(pool.locks[segment]);
    }
    return locks;
}

void CoreElements::move_elements(const Operation& operation, const FifoUse& use, std::int64_t next,
                                 std::int64_t from, std::int64_t to, Script& ops) {
    const FifoEnd& end = end_of(operation, use);
    const FifoPool& pool = lowering_.fifo_pools[*end.pool];
    if (pool.locks.empty() || to == from) {
        return;
    }
    if (lowering_.config.lock_kind == LockKind::Binary) {
        for (std::int64_t i = from; i < to; ++i) {
            add_lock_operation(program::AcquireOp{{lock_at(pool, next + i), use.produces ? 0 : 1}},
                               ops);
        }
        return;
    }
    for (const LockPair& locks : locks_of(end)) {
        add_lock_operation(program::AcquireOp{{use.produces ? locks.producer : locks.consumer,
                                               -(to - from) * repeat_of(pool, use)}},
                           ops);
    }
}

void CoreElements::give_elements(const Operation& operation, const FifoUse& use, std::int64_t& next,
                                 Script& ops) {
    const FifoEnd& end = end_of(operation, use);
    const FifoPool& pool = lowering_.fifo_pools[*end.pool];
    const std::int64_t first = next;
    if (counts_on_ || (lowering_.config.lock_kind == LockKind::Binary && !pool.locks.empty())) {
        next = (next + use.count) % static_cast<std::int64_t>(pool.buffers.size());
    }
    if (pool.locks.empty() || use.count == 0) {
        return;
    }
    if (lowering_.config.lock_kind == LockKind::Binary) {
        for (std::int64_t i = 0; i < use.count; ++i) {
            add_lock_operation(program::ReleaseOp{{lock_at(pool, first + i), use.produces ? 1 : 0}},
                               ops);
        }
        return;
    }
    for (const LockPair& locks : locks_of(end)) {
        add_lock_operation(program::ReleaseOp{{use.produces ? locks.consumer : locks.producer,
                                               use.count * repeat_of(pool, use)}},
                           ops);
    }
}

std::int64_t CoreElements::repeat_of(const FifoPool& pool, const FifoUse& use) {
    return use.produces ? pool.repeat : 1;
}

std::int64_t CoreElements::lock_at(const FifoPool& pool, std::int64_t element) {
    return pool.locks[static_cast<std::size_t>(element) % pool.locks.size()].producer;
}

}  // namespace tilesim::workloads::npu::mlir::core
