// A core: runs its script of lock operations and kernel calls.
//
// Models:  loops with constant or run-time-parameter counts; lock acquires and releases that occupy
//          the core; wake-up after a lock wait; kernel calls from the timing model, of stream-fed
//          ones also the streams of A and C; operand rotation (double buffering); words put on and
//          got from the cascade.
// Ignores: instruction fetch, and conflicts of the core with DMAs on memory banks (the core wins
//          98 % of them on silicon).
// Source:  llvm-aie scheduling tables, mlir-aie trace captures; docs/modelling.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/core/cascade_link.hpp"
#include "arch/npu/core/core_stream.hpp"
#include "arch/npu/cycle_scheduler.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/tile/lock_unit.hpp"
#include "arch/npu/core/logic_stream.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/core/stream_kernel_timing.hpp"
#include "arch/npu/tile/tile_memory.hpp"

namespace tilesim::arch::npu::core {

enum class CoreState : std::size_t {
    Multiply,
    Zero,
    Add,
    Fixed,
    Call,
    LockOperation,
    Cascade,
    WaitingForInput,
    WaitingForOutput,
    WaitingForLock,
    WaitingForHost,
    ReadingC,
    WritingC,
    WaitingForStream,
    WaitingForCascade,
    Done
};

struct CoreStats : base::stats::Group {
    CoreStats(Group& parent, std::string_view name);
    base::stats::StateAccount time;
    base::stats::Counter calls{*this, "calls", base::stats::Unit::Count, "kernel calls"};
    base::stats::Counter macs{*this, "macs", base::stats::Unit::Count, "multiply-accumulates"};
};

class CoreTile final : public base::EventHandler,
                       public tile::LockClient,
                       public CoreStreamClient,
                       public CascadeClient {
  public:
    // Which side releases a lock, and with it why a core waits for it.
    enum class LockRole { Input, Output, Host, Other };

    CoreTile(const program::CoreProgram& script, const program::Program& program, const NpuConfig& config,
             const KernelTiming& timing, std::vector<LockRole> lock_roles,
             CycleScheduler& scheduler, tile::LockUnit& locks, base::stats::Group& parent,
             tile::TileMemory* memory, const memory::port::BackingStore* store);

    // The core's own stream ports; inputs.size() and outputs.size() are the device's.
    CoreInput& input(std::int64_t index) { return *inputs_[static_cast<std::size_t>(index)]; }
    CoreOutput& output(std::int64_t index) { return *outputs_[static_cast<std::size_t>(index)]; }

    void connect(base::ProbeListener* listener) { probe_.connect(listener); }
    // The cascades into and out of the core; nullptr where the program has none.
    void connect_cascades(CascadeLink* in, CascadeLink* out) {
        cascade_in_ = in;
        cascade_out_ = out;
    }
    const program::TileCoordinate& tile() const { return script_.tile; }
    const std::string& name() const { return stats_.path(); }
    bool done() const { return state() == CoreState::Done; }
    CoreState state() const { return static_cast<CoreState>(stats_.time.current()); }
    base::Cycles since() const { return base::Cycles{stats_.time.since()}; }
    // The lock action the core stands at, when it waits.
    const program::LockAction* waiting_for() const { return waiting_; }
    // The own stream port whose transfer the core is in.
    std::optional<program::ChannelId> streaming() const;
    // The cascade operation the core executes: words it puts or gets.
    const program::PutCascadeOp* putting() const { return putting_; }
    const program::GetCascadeOp* getting() const { return getting_; }
    // Stands in a loop without end whose body gives nobody anything: no release, no put.
    bool spins() const;
    std::int64_t calls() const { return stats_.calls.value(); }

    void start();
    void write_parameter(std::int64_t index, std::int64_t value);
    void finish_statistics(base::Cycles now) { stats_.time.charge_until(now.count()); }

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_lock_granted(base::Cycles when) override;
    void on_core_stream(base::Cycles now) override;
    void on_cascade_done(base::Cycles now) override;

  private:
    struct Frame {  // a block of the script being executed
        const std::vector<program::CoreOp>* body;
        std::size_t next;
        std::int64_t runs_left;  // of a loop, this run included; -1 for ever
    };
    // A kernel's calls cost the same each time: computed once.
    struct KernelCost {
        base::Cycles cycles{0};  // stream-fed: without the transfers of C
        std::int64_t macs = 0;
        CoreState state = CoreState::Fixed;
        base::Cycles starved{0};   // by A's stream
        std::int64_t c_words = 0;  // each way
    };

    KernelCost cost_of(const program::Kernel& kernel) const;
    const program::Kernel& called_kernel() const;
    void read_c();
    void write_c();
    void charge_transfer();

    void step();
    const program::CoreOp* fetch();
    void execute(const program::AcquireOp& op);
    void execute(const program::ReleaseOp& op);
    void execute(const program::CallOp& op);
    void execute(const program::LoopOp& op);
    void execute(const program::PutCascadeOp& op);
    void execute(const program::GetCascadeOp& op);
    void begin_cascade();
    void compute(const program::CallOp& op);
    std::int64_t operand(const program::CallOp& op, std::size_t index) const;
    std::int64_t buffer_of(std::int64_t rotation) const;
    void enter(CoreState state);
    void resume_after(base::Cycles cycles, CoreState state, std::uint64_t tag);

    const program::CoreProgram& script_;
    const program::Program& program_;
    const CoreConfig& config_;
    const CascadeConfig& cascade_;
    const KernelTiming& timing_;
    std::vector<LockRole> lock_roles_;
    CycleScheduler& scheduler_;
    tile::LockUnit& locks_;
    tile::TileMemory* memory_;
    const memory::port::BackingStore* store_;
    std::vector<std::unique_ptr<CoreInput>> inputs_;
    std::vector<std::unique_ptr<CoreOutput>> outputs_;
    std::optional<LogicStreamPlayer> a_stream_;
    StreamKernelTiming stream_timing_;
    CoreStats stats_;
    base::Probe probe_;

    std::vector<KernelCost> kernels_;
    std::vector<Frame> stack_;
    std::vector<std::size_t> rotation_;  // which buffer each rotation stands at
    std::vector<std::int64_t> parameters_;
    const program::CallOp* called_ = nullptr;
    const program::LockAction* waiting_ = nullptr;
    const program::LockAction* releasing_ = nullptr;
    base::Cycles transfer_begin_{0};  // of C's words
    std::vector<std::byte> a_;        // functional mode: of a stream-fed call
    std::vector<std::uint32_t> c_;
    CascadeLink* cascade_in_ = nullptr;
    CascadeLink* cascade_out_ = nullptr;
    const program::PutCascadeOp* putting_ = nullptr;
    const program::GetCascadeOp* getting_ = nullptr;
    base::Cycles cascade_begin_{0};
};

}  // namespace tilesim::arch::npu::core
