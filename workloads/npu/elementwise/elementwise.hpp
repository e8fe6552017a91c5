// What is done element by element or row by row (arch/npu/core/vector_kernel_timing.hpp), lowered
// to a program: consecutive rows over the columns of an array and a column's cores.
//
// Each shim streams a core's rows to it on a channel of their own, and on another what goes with
// them: a second operand, the weights of a normalisation (once), or angles (once for the rows that
// share them). So what has one operand can use as many cores of a column as its shim has channels,
// as amd/IRON's operators do. The core works on a few rows at a time and sends them back. Nothing
// is used twice: DRAM or the columns' streams limit it.
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/npu/elementwise/elementwise_mapping.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"

namespace tilesim::workloads::npu::elementwise {

struct LoweredElementwise {
    arch::npu::program::Program program;
    std::int64_t calls = 0;     // of a core
    std::int64_t padded_m = 0;  // rows
};

// `problem` is a whole one or as called (elementwise_mapping.hpp). Throws ConfigError with what
// `problems_of` (mapping_problems.hpp) says.
LoweredElementwise lower(const ElementwiseProblem& problem, const ElementwiseMapping& mapping,
                         const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::elementwise
