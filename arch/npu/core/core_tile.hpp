// A core: runs its script of lock operations, kernel calls, and transfers on cascades and on its
// own streams, one after the other.
//
// Each kind of operation has a unit of its own, which says when it is done; the core only goes on
// with its script.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/npu/core/cascade_port.hpp"
#include "arch/npu/core/core_locks.hpp"
#include "arch/npu/core/kernel_calls.hpp"
#include "arch/npu/core/script_cursor.hpp"
#include "arch/npu/core/stream_access.hpp"

namespace tilesim::arch::npu::core {

class CoreTile final : public base::EventHandler, public OperationClient {
  public:
    using LockRole = core::LockRole;

    CoreTile(const program::CoreProgram& script, const program::Program& program,
             const NpuConfig& config, const KernelTiming& timing, std::vector<LockRole> lock_roles,
             CycleScheduler& scheduler, tile::LockUnit& locks, base::stats::Group& parent,
             tile::TileMemory* memory, const memory::port::BackingStore* store);

    // The core's own stream ports, as many as the device has.
    CoreInput& input(std::int64_t index) { return ports_.input(index); }
    CoreOutput& output(std::int64_t index) { return ports_.output(index); }

    void connect(base::ProbeListener* listener) { account_.connect(listener); }
    // The cascades into and out of the core; nullptr where the program has none.
    void connect_cascades(CascadeLink* in, CascadeLink* out) { cascade_.connect(in, out); }

    const program::TileCoordinate& tile() const { return script_.tile; }
    const std::string& name() const { return account_.name(); }
    bool done() const { return state() == CoreState::Done; }
    CoreState state() const { return account_.state(); }
    base::Cycles since() const { return account_.since(); }
    const CoreStats& stats() const { return account_.stats(); }
    const CriticalPath& path() const { return account_.path(); }
    void begin_path(base::Cycles now) { account_.critical_path()->begin(now); }
    std::int64_t calls() const { return stats().calls.value(); }
    std::int64_t working_calls() const { return account_.working_calls(); }
    // The lock action the core stands at, when it waits.
    const program::LockAction* waiting_for() const { return locks_.waiting_for(); }
    // The own stream port whose transfer the core is in, and what it moves: "3 words".
    std::optional<program::ChannelId> streaming() const {
        const auto port = streams_.streaming();
        return port ? port : calls_.stream_fed().streaming();
    }
    std::string streamed() const {
        return streams_.streaming() ? streams_.streamed() : "the words of C";
    }
    // The cascade operation the core executes: words it puts or gets.
    const program::PutCascadeOp* putting() const { return cascade_.putting(); }
    const program::GetCascadeOp* getting() const { return cascade_.getting(); }
    // Stands in a loop without end whose body gives nobody anything.
    bool spins() const { return cursor_.spins(); }

    // The script begins when the core has been enabled.
    void start();
    // Begins the script again, when what it is doing has ended; a wait for a lock ends at once.
    void reset();
    void write_parameter(std::int64_t index, std::int64_t value) {
        cursor_.write_parameter(index, value);
    }
    void finish_statistics(base::Cycles now) { account_.finish(now); }

    void on_event(std::uint64_t what, base::Femtoseconds) override;
    void on_operation_done() override { step(); }

  private:
    static constexpr std::uint64_t kEnabled = 1;

    void begin();
    void step();
    void execute(const program::AcquireOp& op) { locks_.acquire(op.action); }
    void execute(const program::ReleaseOp& op) { locks_.release(op.action); }
    void execute(const program::CallOp& op) { calls_.begin(op); }
    void execute(const program::PutCascadeOp& op) { cascade_.put(op); }
    void execute(const program::GetCascadeOp& op) { cascade_.get(op); }
    void execute(const program::PutStreamOp& op) { streams_.put(op); }
    void execute(const program::GetStreamOp& op) { streams_.get(op); }
    void execute(const program::LoopOp&) {}  // the cursor's

    const program::CoreProgram& script_;
    CycleScheduler& scheduler_;
    CoreAccount account_;
    ScriptCursor cursor_;
    CoreLocks locks_;
    CoreOperands operands_;
    CorePorts ports_;
    KernelCalls calls_;
    CascadePort cascade_;
    StreamAccess streams_;
    bool enabled_ = false;
    bool resetting_ = false;
};

}  // namespace tilesim::arch::npu::core
