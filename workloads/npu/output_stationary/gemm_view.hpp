// A GEMM as the array sees it: what is broadcast along rows of cores is called A, what goes up
// columns B.
//
// Where the mapping sends A up the columns, the view is of the transposed product, C' = B' A': its
// A is the problem's B, its rows are the problem's columns. Everything but the cores' kernels and
// the check of the product works on views, and so knows one arrangement only.
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct GemmView {
    GemmProblem problem;
    OutputStationaryMapping map;  // blocks and buffers resolved, none is 0
    bool transposed = false;
    bool a_by_k = true;  // A's rows lie one after the other in DRAM, else its columns
    bool c_by_columns = false;
    // Elements along K of a block in a memory tile.
    std::int64_t a_block_k = 0, b_block_k = 0;

    // The program's arguments.
    std::int64_t argument_a() const { return transposed ? 1 : 0; }
    std::int64_t argument_b() const { return transposed ? 0 : 1; }
    const char* name_a() const { return transposed ? "b" : "a"; }
    const char* name_b() const { return transposed ? "a" : "b"; }
    // Rows and columns of an mmul.
    std::int64_t mmul_rows(const arch::npu::MultiplyMode& mode) const {
        return transposed ? mode.t : mode.r;
    }
    std::int64_t mmul_columns(const arch::npu::MultiplyMode& mode) const {
        return transposed ? mode.r : mode.t;
    }
};

GemmView view_of(const GemmProblem& problem, const OutputStationaryMapping& mapping);

// What the kernels sum in: C's type, or f32.
DataType sum_type(const GemmProblem& problem, const OutputStationaryMapping& mapping);

// The problem padded to whole blocks and output tiles, in the view's arrangement.
struct PaddedGemm {
    std::int64_t m = 0, k = 0, n = 0;
};
PaddedGemm padded(const GemmView& view, const arch::npu::NpuConfig& config);
// Of a core, one after the other.
std::int64_t output_tiles(const GemmView& view, const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
