#include "arch/npu/core/core_locks.hpp"

#include <utility>

namespace tilesim::arch::npu::core {

namespace {

CoreState waiting_state(LockRole role) {
    switch (role) {
        case LockRole::Input:
            return CoreState::WaitingForInput;
        case LockRole::Output:
            return CoreState::WaitingForOutput;
        case LockRole::Host:
            return CoreState::WaitingForHost;
        case LockRole::Other:
            return CoreState::WaitingForLock;
    }
    return CoreState::WaitingForLock;
}

}  // namespace

void CoreLocks::acquire(const program::LockAction& action) {
    if (locks_.acquire(action, *this)) {
        account_.enter(CoreState::LockOperation);
        scheduler_.at(scheduler_.now() + config_.lock_cycles, *this);
        return;
    }
    waiting_ = &action;
    account_.enter(waiting_state(roles_[static_cast<std::size_t>(action.lock)]));
}

void CoreLocks::on_lock_granted(base::Cycles when) {
    scheduler_.at(when + config_.lock_wake, *this);
}

void CoreLocks::release(const program::LockAction& action) {
    releasing_ = &action;
    account_.enter(CoreState::LockOperation);
    scheduler_.at(scheduler_.now() + config_.lock_cycles, *this);
}

// A core does one thing at a time: what it has been doing ends.
void CoreLocks::on_event(std::uint64_t, base::Femtoseconds) {
    waiting_ = nullptr;
    if (const program::LockAction* action = std::exchange(releasing_, nullptr)) {
        locks_.release(*action, scheduler_.now());
    }
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
