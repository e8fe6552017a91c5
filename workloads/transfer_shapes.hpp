// The n-D transforms of the output-stationary dataflow: how each operand lies at every level, and
// the descriptor shapes (length and dimensions) that take it from one to the next.
//
//   A          m_ct x K panel in DRAM -> m_ct x k_mt blocks -> m_ct x k_ct tiles (memory tile)
//              -> strips of m_ct x s (stream) -> r x s sub-tiles, row-major (core)
//   B columns  the same with (n, k) for (m, k) and t for r
//   B rows     K x n_ct panel -> rows of n_ct, k_ct at a time (memory tile) -> s x t sub-tiles
//   C          r x t sub-tiles, row-major (core, memory tile) -> rows of n_ct (stream, DRAM)
//
// Source: Taka et al., "Striking the Balance: GEMM Performance Optimization Across Generations of
// Ryzen AI NPUs" (2025).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program.hpp"
#include "workloads/output_stationary.hpp"

namespace tilesim::workloads {

// Buffers, offsets, locks and ids are for the lowering to fill in.
struct TransferShapes {
    using Shape = arch::npu::BufferDescriptor;
    Shape a_shim, a_in, a_out, a_core;  // read, into and out of the memory tile, into the core
    Shape b_shim, b_in, b_out, b_core;
    Shape c_core, c_in, c_out, c_shim;  // `c_in` and `c_out`: the slice of one core
};

// `sizes`: the padded problem.
TransferShapes shapes_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                         const PaddedSizes& sizes, const arch::npu::NpuConfig& config);

// Every field of the shapes that is too wide for its register, one sentence each.
std::vector<std::string> field_problems(const TransferShapes& shapes,
                                        const arch::npu::NpuConfig& config);

// The dimensions with steps of one dropped, contiguous neighbours joined, and wraps too large for
// their field split where dimensions are left. The order of addresses stays.
std::vector<arch::npu::Dimension> fitted(std::vector<arch::npu::Dimension> dimensions,
                                         const arch::npu::DmaConfig& dma);

}  // namespace tilesim::workloads
