// Operands of a functional weight-stationary GEMM and the check of its product.
#pragma once

#include <cstdint>

#include "arch/memory/port/backing_store.hpp"
#include "workloads/npu/weight_stationary/weight_stationary.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu::weight_stationary {

// The operands of output_stationary/gemm_data.hpp.
void fill_operands(const GemmProblem& problem, const LoweredGemm& lowered, std::uint64_t seed,
                   arch::memory::port::BackingStore& store);

// Compares C in DRAM with a reference product. Integers are exact modulo 2^bits. Floats are added
// in the order of the array: by cascade in order of k, rounded to C's type every k_ct products, for
// the first slice of K is that of the first core of the cascade; by memory tile in order of k
// within each slice of k_ct, and the slices' sums in their order.
ProductCheck check_product(const GemmProblem& problem, const LoweredGemm& lowered,
                           const WeightStationaryMapping& mapping, std::uint64_t seed,
                           const arch::memory::port::BackingStore& store);

}  // namespace tilesim::workloads::npu::weight_stationary
