#include "workloads/npu/gemv/matrix_vector.hpp"

namespace tilesim::workloads::npu::gemv {

using namespace arch::npu;

program::Kernel matvec_kernel(const MatrixVector& problem, std::int64_t rows, std::int64_t k) {
    program::Kernel kernel;
    kernel.name = "matvec";
    kernel.kind = program::KernelKind::Matvec;
    kernel.m = rows;
    kernel.k = k;
    kernel.n = 1;
    kernel.a = problem.a;
    kernel.b = problem.x;
    kernel.c = problem.y;
    kernel.scale_block = problem.scale_block;
    return kernel;
}

}  // namespace tilesim::workloads::npu::gemv
