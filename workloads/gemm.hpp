// The matrix product C (M x N) = A (M x K) * B (K x N).
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/problem.hpp"

namespace tilesim::workloads {

using arch::npu::DataType;

struct GemmProblem {
    std::int64_t m = 0, k = 0, n = 0;  // rows of A, columns of A, columns of B
    DataType a = DataType::Int8, b = DataType::Int8, c = DataType::Int32;
    bool b_column_major = true;  // in DRAM; A and C are row-major

    double macs() const {
        return static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    }
};

// Bytes of one element; types below a byte have no memory layout of their own here.
std::int64_t bytes_of(DataType type);

void read_gemm(arch::base::config::Node& node, GemmProblem& gemm);
// `workload.gemm`.
const ProblemKind& gemm_kind();

}  // namespace tilesim::workloads
