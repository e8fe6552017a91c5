// A core's kernel calls: what calling costs, how long the kernel runs, and what it does.
//
// Models:  `call_cycles` for a call and its return, none for a script's own instructions; a
//          kernel's cycles from the timing model, or as it states them; its operands' rotation, and
//          where that makes A and B lie in one bank.
// Ignores: instruction fetch, and conflicts of the core with DMAs on memory banks (the core wins
//          98 % of them on silicon).
// Source:  llvm-aie scheduling tables, mlir-aie trace captures; docs/modelling.md.
#pragma once

#include <vector>

#include "arch/npu/core/stream_fed_call.hpp"

namespace tilesim::arch::npu::core {

class KernelCalls final : public base::EventHandler, public OperationClient {
  public:
    KernelCalls(const program::Program& program, program::TileCoordinate tile,
                const NpuConfig& config, const KernelTiming& timing, CorePorts& ports,
                CycleScheduler& scheduler, CoreOperands& operands,
                const memory::port::BackingStore* store, CoreAccount& account,
                OperationClient& core);

    const StreamFedCall& stream_fed() const { return stream_fed_; }

    void begin(const program::CallOp& call);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    // The stream-fed call has ended.
    void on_operation_done() override { finish(); }

  private:
    // Of a multiplication, whose A and B take turns in the core's memory.
    struct Multiplication {
        std::int64_t kernel, a, b;  // indexes of the kernel and the buffers
        base::Cycles cycles;
    };

    void tell_marker(const char* marker) const;
    const program::Kernel& kernel() const;
    base::Cycles cycles();
    base::Cycles multiply_cycles(std::int64_t a, std::int64_t b) const;
    void run();
    void finish();

    const program::Program& program_;
    const CoreConfig& config_;
    CycleScheduler& scheduler_;
    CoreOperands& operands_;
    CoreAccount& account_;
    OperationClient& core_;
    StreamFedCall stream_fed_;
    const KernelTiming& timing_;
    std::vector<base::Cycles> cycles_;  // of the program's kernels, whatever buffers they work on
    std::vector<Multiplication> multiplications_;  // those that have been called
    const program::CallOp* call_ = nullptr;
};

}  // namespace tilesim::arch::npu::core
