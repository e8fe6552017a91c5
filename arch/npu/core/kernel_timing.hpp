// How long a kernel call takes on a core, from the structure of its loops.
//
// Multiply: C is computed in blocks of block_rows x block_columns mmuls, whose results stay in
// accumulators while k runs. A block costs
//     k loop:     (k / s) steps of block mmuls, each `issue_slots` vector slots; a step is no
//     faster
//                 than the dependent-accumulate interval or than its A and B loads allow; one slot
//                 is lost every `extra_every` mmuls where the mode says so;
//     C load:     C bytes over the load slots: one slot, counting elements after widening, for
//                 types that are up-shifted on load, all slots for accumulator-wide types;
//     C store:    one store a cycle of `store_width`;
//     fill/drain: of the software pipeline, the one calibrated constant of a mode.
// Zero: one vector store a cycle. Adding: the same, or what its loads take if that is more.
//
// Ignores: bank conflicts of the core with itself (buffers in use together lie in different banks),
//          instruction fetch.
// Source:  mlir-aie aie_kernels/{aie2,aie2p}/mm.cc (blocking), llvm-aie schedules (slots,
// intervals).
#pragma once

#include <string>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

struct KernelCycles {
    base::Cycles issue{0};       // mmul slots alone: the ideal
    base::Cycles loop_extra{0};  // what the k loop takes beyond
    base::Cycles c_load{0};
    base::Cycles c_store{0};
    base::Cycles fill_drain{0};
    base::Cycles total() const { return issue + loop_extra + c_load + c_store + fill_drain; }
};

class KernelTiming {
  public:
    // Keeps a reference to `config`, into which `find_mode` points.
    explicit KernelTiming(const KernelConfig& config) : config_(config) {}
    explicit KernelTiming(KernelConfig&&) = delete;

    // The mode that multiplies the kernel's types; nullptr when the device has none.
    const MultiplyMode* find_mode(DataType a, DataType b, DataType c) const;
    const MultiplyMode& mode_of(const program::Kernel& kernel) const;
    // Why the kernel cannot run here; empty when it can.
    std::string check(const program::Kernel& kernel) const;
    // `kernel` must pass `check`.
    KernelCycles cycles(const program::Kernel& kernel) const;
    // Multiply-accumulates a cycle when nothing but mmuls is issued.
    double peak_macs(const MultiplyMode& mode) const;

  private:
    KernelCycles block_cycles(const MultiplyMode& mode, const program::Kernel& kernel, std::int64_t rows,
                              std::int64_t columns) const;

    const KernelConfig& config_;
};

}  // namespace tilesim::arch::npu::core
