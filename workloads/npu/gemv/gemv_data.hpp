// Operands of a functional matrix-vector product and the check of its result.
#pragma once

#include <cstdint>

#include "arch/memory/port/backing_store.hpp"
#include "workloads/npu/gemv/gemv.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu::gemv {

// Integers take all values of their type, floats lie in [-1, 1), scale factors in (0, 1].
void fill_operands(const MatrixVector& problem, const LoweredGemv& lowered, std::uint64_t seed,
                   arch::memory::port::BackingStore& store);

// Compares every element of y with plain sums in order of the row: integers modulo 2^bits, floats
// in f32, rounded to y's type at the end.
ProductCheck check_product(const MatrixVector& problem, const LoweredGemv& lowered,
                           const arch::memory::port::BackingStore& store);

}  // namespace tilesim::workloads::npu::gemv
