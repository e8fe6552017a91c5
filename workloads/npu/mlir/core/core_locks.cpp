#include "workloads/npu/mlir/core/core_locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "workloads/npu/mlir/core/flow_walker.hpp"

namespace tilesim::workloads::npu::mlir::core {

namespace {

constexpr std::int64_t kLockWindow = 16;  // locks of one tile as a core sees them

}  // namespace

LockUse CoreLocks::read(const Operation& operation, const Scope& scope) {
    check_count(operation, scope);
    return lock_use(operation, scope);
}

void CoreLocks::check_count(const Operation& operation, const Scope& scope) {
    const Item* group = operation.items.empty() ? nullptr : &operation.items.front();
    const Item* last = group == nullptr || group->items.size() < 5 ? nullptr : &group->items[4];
    if (last != nullptr && last->is(TokenKind::Value) && !scope.constant(last->token.text)) {
        throw DependsOnData(operation.where,
                            "how much this asks of the lock depends on data, which is not "
                            "modelled");
    }
}

LockUse CoreLocks::lock_use(const Operation& operation, const Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const auto number = inside.peek() != nullptr && inside.peek()->is(TokenKind::Value)
                            ? scope.constant(inside.peek()->token.text)
                            : std::nullopt;
    if (!number) {
        return read_lock_use(operation, scope);
    }
    const std::string name = inside.value();
    Scope local(&scope);
    local.define(name, {Value::Kind::Lock, lock_seen_as(*number, operation.where)});
    return read_lock_use(operation, local);
}

std::int64_t CoreLocks::lock_seen_as(std::int64_t number, Location where) {
    const arch::npu::CoreConfig& core = lowering_.config.core;
    program::TileCoordinate at = tile_;
    const bool own_west = core.alternating_sides && at.row % 2 == 0;
    constexpr std::int64_t kSouth = 0, kWest = 1, kNorth = 2, kEast = 3;
    const std::int64_t window = number / kLockWindow;
    at.row += window == kNorth ? 1 : window == kSouth ? -1 : 0;
    at.column += window == kWest && !own_west ? -1 : window == kEast && own_west ? 1 : 0;
    if (number < 0 || window > kEast || !lowering_.config.contains(at)) {
        throw ReadError(where, fmt::format("{} is no lock a core sees; those are 0..{}", number,
                                           4 * kLockWindow - 1));
    }
    auto& locks = lowering_.program.locks;
    const auto place = std::find_if(locks.begin(), locks.end(), [&](const program::Lock& lock) {
        return lock.tile == at && lock.id == number % kLockWindow;
    });
    if (place != locks.end()) {
        return place - locks.begin();
    }
    program::Lock lock;  // every tile has them all, declared or not
    lock.tile = at;
    lock.id = number % kLockWindow;
    lock.name = unique_name(locks, fmt::format("lock_{}_{}_{}", at.column, at.row, lock.id));
    locks.push_back(lock);
    return static_cast<std::int64_t>(locks.size()) - 1;
}

std::vector<std::int64_t> CoreLocks::given(Cursor& call, const Scope& scope) const {
    std::vector<std::int64_t> locks;
    if (lowering_.config.lock_kind == LockKind::Binary) {
        return locks;
    }
    Cursor given(call.group("("));
    while (!given.done()) {
        const Item& item = given.take();
        const Value* value = item.is(TokenKind::Value) ? scope.find(item.token.text) : nullptr;
        if (value != nullptr && value->kind == Value::Kind::Lock) {
            locks.push_back(value->index);
        }
    }
    return locks;
}

}  // namespace tilesim::workloads::npu::mlir::core
