// Operands of a functional elementwise operation and the check of its result.
#pragma once

#include <cstdint>

#include "arch/memory/port/backing_store.hpp"
#include "workloads/npu/elementwise/elementwise.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::npu::elementwise {

// Floats in [-1, 1), integers of all values, scale factors in (0, 1].
void fill_operands(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                   std::uint64_t seed, arch::memory::port::BackingStore& store);
// Every element against the operation in double precision, to within the rounding of C's type.
ProductCheck check_result(const ElementwiseProblem& problem, const LoweredElementwise& lowered,
                          const arch::memory::port::BackingStore& store);

}  // namespace tilesim::workloads::npu::elementwise
