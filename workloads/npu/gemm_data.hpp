// Operands of a functional GEMM in DRAM and the check of its product, whatever the dataflow.
#pragma once

#include <cstdint>
#include <string>

#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/gemm.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu {

// Where the matrices lie, and the sizes they are padded to.
struct GemmMatrices {
    std::int64_t a = 0, b = 0, c = 0;  // addresses
    std::int64_t m = 0, k = 0, n = 0;
    bool c_column_major = false;
};
// Those a program has as its first three arguments.
template <class Lowered>
GemmMatrices matrices_of(const Lowered& lowered) {
    const auto& arguments = lowered.program.external_buffers;
    GemmMatrices matrices{arguments[0].address,
                          arguments[1].address,
                          arguments[2].address,
                          lowered.m,
                          lowered.k,
                          lowered.n};
    if constexpr (requires { lowered.c_column_major; }) {
        matrices.c_column_major = lowered.c_column_major;
    }
    return matrices;
}

// The order products are added in: that of k, in slices.
struct SumOrder {
    std::int64_t slice = 0;  // products after which a sum is stored as C's type
    bool apart = false;      // each slice is summed from zero, and then added as a whole
};

// Fills A and B, in their DRAM layout and with zeros where padded, from a seed (splitmix64).
// Integers take all values of their type, bf16 lies in [-1, 1).
void fill_operands(const GemmProblem& problem, const GemmMatrices& matrices, std::uint64_t seed,
                   arch::memory::port::BackingStore& store);

// Compares C in DRAM with a reference product computed from A and B in DRAM by plain loops.
// Integers modulo 2^bits; bf16 with f32 sums in the order stated, rounded to C's type after each
// slice as the cores store C. Up to 2^32 multiply-accumulates every element is compared; above
// that, rows spread over C are, and integers are covered whole by 16 random projections (C x = A (B
// x) modulo 2^bits), which a wrong row passes with a probability of at most 2^-16.
ProductCheck check_product(const GemmProblem& problem, const GemmMatrices& matrices,
                           const SumOrder& order, std::uint64_t seed,
                           const arch::memory::port::BackingStore& store);

}  // namespace tilesim::workloads::npu
