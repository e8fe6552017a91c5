// A core's lock operations: acquires that may have to wait, and releases.
//
// Models:  an acquire that finds its lock, and a release, occupy the core for `lock_cycles`, and a
//          release takes effect at their end; an acquire that had to wait goes on `lock_wake` after
//          its lock was granted.
// Ignores: the distance to the lock's tile.
// Source:  mlir-aie trace captures; docs/modelling.md.
#pragma once

#include <vector>

#include "arch/npu/core/core_account.hpp"
#include "arch/npu/core/core_operation.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/tile/lock_unit.hpp"

namespace tilesim::arch::npu::core {

// Which side releases a lock, and with it why a core waits for it.
enum class LockRole { Input, Output, Host, Other };

class CoreLocks final : public base::EventHandler, public tile::LockClient {
  public:
    // `roles`: of the program's locks.
    CoreLocks(const CoreConfig& config, std::vector<LockRole> roles, CycleScheduler& scheduler,
              tile::LockUnit& locks, CoreAccount& account, OperationClient& core)
        : config_(config),
          roles_(std::move(roles)),
          scheduler_(scheduler),
          locks_(locks),
          account_(account),
          core_(core) {}

    // The action the core stands at, when it waits.
    const program::LockAction* waiting_for() const { return waiting_; }

    void acquire(const program::LockAction& action);
    void release(const program::LockAction& action);
    // Gives up an acquire that waits and is not granted yet; false when there is none.
    bool withdraw();

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_lock_granted(base::Cycles when) override;
    std::string_view lock_client() const override { return account_.name(); }
    CriticalPath* critical_path() override { return account_.critical_path(); }

  private:
    void tell_request(const char* request);
    void tell_stall(base::Cycles granted);

    const CoreConfig& config_;
    std::vector<LockRole> roles_;
    CycleScheduler& scheduler_;
    tile::LockUnit& locks_;
    CoreAccount& account_;
    OperationClient& core_;
    const program::LockAction* waiting_ = nullptr;
    const program::LockAction* releasing_ = nullptr;
    bool granted_ = false;  // on its way on
    base::Cycles requested_{0};
};

}  // namespace tilesim::arch::npu::core
