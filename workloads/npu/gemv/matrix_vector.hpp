// y = A x, as a GEMV or a GEMM of one row states it, and the kernel that multiplies some of its
// rows.
#pragma once

#include <cstdint>

#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu::gemv {

struct MatrixVector {
    std::int64_t m = 0, k = 0;                          // rows of A, and elements of one
    arch::npu::DataType a = arch::npu::DataType::Bf16;  // the matrix
    arch::npu::DataType x = arch::npu::DataType::Bf16;
    arch::npu::DataType y = arch::npu::DataType::Bf16;
    std::int64_t scale_block = 0;  // elements of a row that share a scale factor; 0: none

    double macs() const { return static_cast<double>(m) * static_cast<double>(k); }
};

// The kernel all cores call, for `rows` rows of `k` elements.
arch::npu::program::Kernel matvec_kernel(const MatrixVector& problem, std::int64_t rows,
                                         std::int64_t k);

}  // namespace tilesim::workloads::npu::gemv
