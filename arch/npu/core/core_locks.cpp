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

namespace {

// The trace unit sees a lock request as it is issued, and three cycles later the stall it may
// become: a cycle, and as long as the lock is not granted.
constexpr base::Cycles kRequestToStall{3};

}  // namespace

void CoreLocks::tell_request(const char* request) {
    requested_ = scheduler_.now();
    account_.tell(".requests", request, requested_);
}

void CoreLocks::tell_stall(base::Cycles granted) {
    account_.tell(".stall", "lock", requested_ + kRequestToStall,
                  granted - requested_ + base::Cycles{1});
}

void CoreLocks::acquire(const program::LockAction& action) {
    tell_request("acquire");
    if (locks_.acquire(action, *this)) {
        tell_stall(scheduler_.now());
        account_.enter(CoreState::LockOperation);
        scheduler_.at(scheduler_.now() + config_.lock_cycles, *this);
        return;
    }
    waiting_ = &action;
    account_.enter(waiting_state(roles_[static_cast<std::size_t>(action.lock)]));
}

bool CoreLocks::withdraw() {
    if (waiting_ == nullptr || granted_) {
        return false;
    }
    waiting_ = nullptr;
    locks_.withdraw(*this);
    return true;
}

void CoreLocks::on_lock_granted(base::Cycles when) {
    granted_ = true;
    tell_stall(when);
    scheduler_.at(when + config_.lock_wake, *this);
}

void CoreLocks::release(const program::LockAction& action) {
    tell_request("release");
    tell_stall(scheduler_.now());
    releasing_ = &action;
    account_.enter(CoreState::LockOperation);
    scheduler_.at(scheduler_.now() + config_.lock_cycles, *this);
}

// A core does one thing at a time: what it has been doing ends.
void CoreLocks::on_event(std::uint64_t, base::Femtoseconds) {
    waiting_ = nullptr;
    granted_ = false;
    if (const program::LockAction* action = std::exchange(releasing_, nullptr)) {
        account_.critical_path()->charge(PathPart::Locks, scheduler_.now());
        locks_.release(*action, scheduler_.now(), this);
    }
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
