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
//     conflicts:  of a step, the loads of A that go with one of B: where the buffers of both lie in
//                 one bank, which serves one of the two, the core stands for a cycle. How often
//                 follows from how much of each buffer lies in which bank: blocks take every part
//                 of A with every part of B.
// Zero: one vector store a cycle. Adding: the same, or what its loads take if that is more. What
// works on vectors: vector_kernel_timing.hpp.
//
// Ignores: conflicts of C with A and B and with itself, of the core with DMAs; instruction fetch.
// Source:  mlir-aie aie_kernels/{aie2,aie2p}/mm.cc (blocking), llvm-aie schedules (slots,
// intervals).
#pragma once

#include <string>

#include "arch/npu/core/kernel_cycles.hpp"
#include "arch/npu/core/vector_kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

// Where the operands of a call lie in the core's memory, and how long its banks are.
struct OperandPlaces {
    std::int64_t a = 0, b = 0;  // addresses
    std::int64_t bank = 0;      // bytes
};

class KernelTiming {
  public:
    // Keeps a reference to `config`, into which `find_mode` points.
    explicit KernelTiming(const KernelConfig& config) : config_(config), vectors_(config) {}
    explicit KernelTiming(KernelConfig&&) = delete;

    // The mode of these types, of this name or the first; nullptr when the device has none.
    const MultiplyMode* find_mode(DataType a, DataType b, DataType c,
                                  const std::string& name = "") const;
    // That the device has no such mode, and which it has.
    std::string no_mode(DataType a, DataType b, DataType c, const std::string& name = "") const;
    const MultiplyMode& mode_of(const program::Kernel& kernel) const;
    // Why the kernel cannot run here; empty when it can.
    std::string check(const program::Kernel& kernel) const;
    // `kernel` must pass `check`. Its operands lie in different banks.
    KernelCycles cycles(const program::Kernel& kernel) const;
    // A Multiply's, whose operands lie there.
    KernelCycles cycles(const program::Kernel& kernel, const OperandPlaces& places) const;
    // Multiply-accumulates a cycle when nothing but mmuls is issued.
    double peak_macs(const MultiplyMode& mode) const;

  private:
    KernelCycles block_cycles(const MultiplyMode& mode, const program::Kernel& kernel,
                              std::int64_t rows, std::int64_t columns) const;

    KernelCycles multiply_cycles(const program::Kernel& kernel) const;
    KernelCycles add_cycles(const program::Kernel& kernel) const;
    std::string check_multiply(const program::Kernel& kernel) const;

    const KernelConfig& config_;
    VectorKernelTiming vectors_;
};

}  // namespace tilesim::arch::npu::core
