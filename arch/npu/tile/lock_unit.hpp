// The locks of the array: six-bit counters, or on AIE1 binary locks, that agents acquire and
// release.
//
// Models:  counting: acquire-equal, acquire-greater-equal, release; binary: acquire waits until the
//          lock is free in the state `value` and holds it, release leaves it free in the state
//          `value`; one grant a cycle per lock, waiting requests served in order of arrival where
//          their condition holds.
// Ignores: the distance between the requester and the lock's tile.
// Source:  Xilinx aie-rt, AMD AM020, AM009 (binary).
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/critical_path.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::tile {

class LockClient {
  public:
    // The waiting request is granted in cycle `when`, the present one or a later one.
    virtual void on_lock_granted(base::Cycles when) = 0;
    // Its name in traces; empty: none.
    virtual std::string_view lock_client() const { return {}; }
    // That of the component; null: it is on none.
    virtual CriticalPath* critical_path() { return nullptr; }

  protected:
    ~LockClient() = default;
};

// Hears of every grant and release, and of who ended whose wait, when somebody listens.
class LockListener {
  public:
    virtual void on_lock_taken(std::int64_t lock) = 0;
    virtual void on_lock_given(std::int64_t lock) = 0;
    virtual void on_lock_passed(const LockClient& by, const LockClient& to, base::Cycles now,
                                base::Cycles when) = 0;

  protected:
    ~LockListener() = default;
};

class LockUnit {
  public:
    static constexpr std::int64_t kMost = 63;  // six bits

    explicit LockUnit(const std::vector<program::Lock>& locks, LockKind kind = LockKind::Counting);

    void listen(LockListener* listener) { listener_ = listener; }

    std::int64_t value(std::int64_t lock) const { return state(lock).value; }
    // Binary locks: somebody has acquired it and not released it yet.
    bool held(std::int64_t lock) const { return state(lock).held; }
    // Whether a request with this value would be granted at once.
    bool available(const program::LockAction& action) const;

    // Takes the lock when it is available and nobody waits before; otherwise queues the request
    // and returns false: `client` hears when it is granted.
    bool acquire(const program::LockAction& action, LockClient& client);
    // Adds to the lock (binary: frees it in the given state) and grants waiting requests, one a
    // cycle from `now` on. Throws ProgramFault when the counter would leave 0..63. `by`: who.
    void release(const program::LockAction& action, base::Cycles now, LockClient* by = nullptr);
    // A waiting request is not wanted any more.
    void withdraw(const LockClient& client);
    // What the command processor writes; `path`: its own.
    void set(std::int64_t lock, std::int64_t value, base::Cycles now,
             const CriticalPath* path = nullptr);

  private:
    struct Waiter {
        std::int64_t value;
        LockClient* client;
    };
    struct State {
        std::int64_t value = 0;
        std::deque<Waiter> waiters;
        bool held = false;
    };
    const State& state(std::int64_t lock) const { return states_[static_cast<std::size_t>(lock)]; }
    State& state(std::int64_t lock) { return states_[static_cast<std::size_t>(lock)]; }
    static bool satisfied(std::int64_t request, const State& lock) {
        return !lock.held && (request < 0 ? lock.value >= -request : lock.value == request);
    }
    void take(State& lock, std::int64_t request) const;
    void change(std::int64_t lock, std::int64_t value, base::Cycles now, const LockClient* by,
                const CriticalPath* path);

    LockKind kind_;
    std::vector<program::Lock> names_;
    std::vector<State> states_;
    LockListener* listener_ = nullptr;
};

}  // namespace tilesim::arch::npu::tile
