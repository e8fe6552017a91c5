// Operands of a functional GEMM and the check of its product.
#pragma once

#include <cstdint>
#include <string>

#include "arch/memory/port/backing_store.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Fills A and B, in their DRAM layout and with zeros where padded, from a seed (splitmix64).
// Integers take all values of their type, bf16 lies in [-1, 1).
void fill_operands(const GemmProblem& problem, const LoweredGemm& lowered, std::uint64_t seed,
                   arch::memory::port::BackingStore& store);

// Compares C in DRAM with a reference product computed from A and B in DRAM by plain loops.
// Integers modulo 2^bits; bf16 with f32 sums in order of k, rounded to C's type every k_ct products
// as the cores store C. Up to 2^32 multiply-accumulates every element is compared; above that, rows
// spread over C are, and integers are covered whole by 16 random projections (C x = A (B x) modulo
// 2^bits), which a wrong row passes with a probability of at most 2^-16.
ProductCheck check_product(const GemmProblem& problem, const LoweredGemm& lowered,
                           const OutputStationaryMapping& mapping, std::uint64_t seed,
                           const arch::memory::port::BackingStore& store);

}  // namespace tilesim::workloads::npu::output_stationary
