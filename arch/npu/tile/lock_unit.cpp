#include "arch/npu/tile/lock_unit.hpp"

#include <fmt/format.h>

#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::tile {

LockUnit::LockUnit(const std::vector<program::Lock>& locks, LockKind kind)
    : kind_(kind), names_(locks) {
    for (const program::Lock& lock : locks) {
        states_.push_back({lock.initial, {}, false});
    }
}

void LockUnit::take(State& lock, std::int64_t request) const {
    lock.held = kind_ == LockKind::Binary;
    lock.value += request < 0 ? request : 0;
}

bool LockUnit::available(const program::LockAction& action) const {
    return satisfied(action.value, state(action.lock));
}

bool LockUnit::acquire(const program::LockAction& action, LockClient& client) {
    State& lock = state(action.lock);
    // Who waits for the other state of a binary lock is not overtaken.
    const bool first = lock.waiters.empty() || kind_ == LockKind::Binary;
    if (first && satisfied(action.value, lock)) {
        take(lock, action.value);
        if (listener_ != nullptr) {
            listener_->on_lock_taken(action.lock);
        }
        return true;
    }
    lock.waiters.push_back({action.value, &client});
    return false;
}

void LockUnit::release(const program::LockAction& action, base::Cycles now, LockClient* by) {
    const CriticalPath* path = by != nullptr ? by->critical_path() : nullptr;
    if (listener_ != nullptr) {
        listener_->on_lock_given(action.lock);
    }
    if (kind_ == LockKind::Binary) {
        change(action.lock, action.value, now, by, path);
        return;
    }
    const State& lock = state(action.lock);
    const std::int64_t value = lock.value + action.value;
    if (value < 0 || value > kMost) {
        const program::Lock& name = names_[static_cast<std::size_t>(action.lock)];
        throw program::ProgramFault(fmt::format(
            "cycle {}: lock {} (tile {},{} id {}) is {}; releasing {:+} leaves 0..{}", now.count(),
            name.name, name.tile.column, name.tile.row, name.id, lock.value, action.value, kMost));
    }
    change(action.lock, value, now, by, path);
}

void LockUnit::withdraw(const LockClient& client) {
    for (State& lock : states_) {
        std::erase_if(lock.waiters,
                      [&client](const Waiter& waiter) { return waiter.client == &client; });
    }
}

void LockUnit::set(std::int64_t lock, std::int64_t value, base::Cycles now,
                   const CriticalPath* path) {
    change(lock, value, now, nullptr, path);
}

// Gives the lock a value and grants the waiting requests that it satisfies.
void LockUnit::change(std::int64_t id, std::int64_t value, base::Cycles now, const LockClient* by,
                      const CriticalPath* path) {
    State& lock = state(id);
    lock.value = value;
    lock.held = false;
    base::Cycles when = now;
    for (std::size_t i = 0; i < lock.waiters.size();) {
        const Waiter waiter = lock.waiters[i];
        if (!satisfied(waiter.value, lock)) {
            ++i;
            continue;
        }
        take(lock, waiter.value);
        lock.waiters.erase(lock.waiters.begin() + static_cast<std::ptrdiff_t>(i));
        if (listener_ != nullptr) {
            listener_->on_lock_taken(id);
            if (by != nullptr) {
                listener_->on_lock_passed(*by, *waiter.client, now, when);
            }
        }
        follow(waiter.client->critical_path(), path);
        waiter.client->on_lock_granted(when);
        when += base::Cycles{1};
    }
}

}  // namespace tilesim::arch::npu::tile
