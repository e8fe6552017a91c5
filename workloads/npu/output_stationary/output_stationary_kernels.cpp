#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"

#include "workloads/npu/output_stationary/gemm_view.hpp"

namespace tilesim::workloads::npu::output_stationary {

using namespace arch::npu;

namespace {

// One that works on the same tile.
program::Kernel kernel_like(program::Kernel kernel, const char* name, program::KernelKind kind) {
    kernel.name = name;
    kernel.kind = kind;
    kernel.mode.clear();
    kernel.c_column_major = false;
    return kernel;
}

}  // namespace

std::vector<program::Kernel> kernels_of(const GemmProblem& problem,
                                        const OutputStationaryMapping& map) {
    const program::Kernel multiply = multiply_kernel(problem, map);
    std::vector<program::Kernel> kernels{kernel_like(multiply, "zero", program::KernelKind::Zero),
                                         multiply};
    if (map.sums_apart) {
        program::Kernel cast = kernel_like(multiply, "cast", program::KernelKind::Vector);
        cast.operation = program::VectorOperation::Cast;
        cast.a = cast.b = DataType::F32;
        cast.c = problem.c;
        cast.iteration_lanes = map.cast_lanes;
        cast.by_element = map.cast_by_element;
        kernels.push_back(std::move(cast));
    }
    return kernels;
}

program::Kernel multiply_kernel(const GemmProblem& problem,
                                const OutputStationaryMapping& mapping) {
    program::Kernel kernel;
    kernel.name = "multiply";
    kernel.kind = program::KernelKind::Multiply;
    kernel.m = mapping.m_ct;
    kernel.k = mapping.k_ct;
    kernel.n = mapping.n_ct;
    kernel.a = problem.a;
    kernel.b = problem.b;
    kernel.c = sum_type(problem, mapping);
    kernel.b_column_major = problem.b_column_major;
    kernel.mode = mapping.mode;
    kernel.c_column_major = mapping.c_column_major;
    return kernel;
}

SumOrder sum_order(const GemmProblem& problem, const OutputStationaryMapping& mapping) {
    return {mapping.sums_apart ? problem.k : mapping.k_ct};
}

}  // namespace tilesim::workloads::npu::output_stationary
