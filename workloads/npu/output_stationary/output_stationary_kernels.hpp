// The kernels of an output-stationary core and the order in which it adds.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Indexes of the program's kernels; a cast only where sums are apart.
inline constexpr std::int64_t kZeroKernel = 0, kMultiplyKernel = 1, kCastKernel = 2;

// Zero, multiply and cast, in this order.
std::vector<arch::npu::program::Kernel> kernels_of(const GemmProblem& problem,
                                                   const OutputStationaryMapping& mapping);

// The kernel call all of it is made of.
arch::npu::program::Kernel multiply_kernel(const GemmProblem& problem,
                                           const OutputStationaryMapping& mapping);

// The order products are added in: C is stored after every call, or once where sums are apart.
SumOrder sum_order(const GemmProblem& problem, const OutputStationaryMapping& mapping);

}  // namespace tilesim::workloads::npu::output_stationary
