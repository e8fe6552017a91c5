// The matrix-vector product y (M) = W (M x K) * x (K), as token generation has it.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/base/data_type.hpp"
#include "workloads/problem.hpp"

namespace tilesim::workloads {

struct GemvProblem {
    using DataType = arch::base::DataType;
    std::int64_t m = 0, k = 0;  // rows and columns of W
    DataType weights = DataType::Int8, input = DataType::Int8, accumulate = DataType::Int16;
    // Weights of a row that share a scale factor of kScaleBits, beside them in memory; 0: none.
    std::int64_t scale_block = 0;

    static constexpr std::int64_t kScaleBits = 8;
    double macs() const { return static_cast<double>(m) * static_cast<double>(k); }
    // Of the weights with their scale factors.
    double bytes() const;
};

// Types and scale block; M and K stay.
void read_gemv_format(arch::base::config::Node& node, GemvProblem& gemv);
void read_gemv(arch::base::config::Node& node, GemvProblem& gemv);
// `workload.gemv`.
const ProblemKind& gemv_kind();

}  // namespace tilesim::workloads
