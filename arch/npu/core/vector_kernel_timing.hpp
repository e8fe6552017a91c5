// How long a kernel takes that works on vectors instead of mmuls: a matrix-vector product, and what
// is done element by element or row by row.
//
// A loop takes vectors of `vector_lanes` f32 lanes (a product as many elements as one
// multiply-accumulate has) at the pace of what binds it: its loads over the load slots, its vector
// instructions, one store a cycle, or, where it sums up, the interval of dependent sums. It fills
// and drains once with the latency of a load and of a vector instruction. A sum over a row ends
// with log2(lanes) steps of shuffle and add; a reciprocal takes two Newton steps of two dependent
// instructions. Where a compiler has not overlapped iterations, each takes all of its latencies.
// Code that converts a vector element by element moves each out of it and into others.
//
// Ignores: bank conflicts, sums kept in several accumulators, instruction fetch.
// Source:  instructions an element needs from the operations' definitions; latencies of llvm-aie.
#pragma once

#include <string>

#include "arch/npu/core/kernel_cycles.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

class VectorKernelTiming {
  public:
    // Keeps a reference to `config`.
    explicit VectorKernelTiming(const KernelConfig& config) : config_(config) {}
    explicit VectorKernelTiming(KernelConfig&&) = delete;

    // Why the kernel, of kind Matvec or Vector, cannot run here; empty when it can.
    std::string check(const program::Kernel& kernel) const;
    // `kernel` must pass `check`.
    KernelCycles cycles(const program::Kernel& kernel) const;

  private:
    struct Pass;
    KernelCycles matvec(const program::Kernel& kernel) const;
    KernelCycles vector(const program::Kernel& kernel) const;
    // A cast whose iterations do not overlap: a load, an instruction or the moves of each element,
    // a store.
    KernelCycles without_overlap(const program::Kernel& kernel) const;
    // One loop over `elements`.
    KernelCycles loop(std::int64_t elements, const Pass& pass) const;
    base::Cycles reduction(std::int64_t lanes) const;
    std::int64_t multiplied_at_once(const program::Kernel& kernel) const;

    const KernelConfig& config_;
};

}  // namespace tilesim::arch::npu::core
