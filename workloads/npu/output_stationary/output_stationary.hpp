// The output-stationary GEMM dataflow of XDNA and XDNA2 arrays, lowered to a program.
//
// Every core keeps a C tile while K runs past it. A tiles are broadcast along a row of cores, B
// tiles up a column, both from double-buffered memory tiles that load k_mt along K at a time; the C
// tiles of a column join in its memory tile. Shim descriptors move one A row panel, one B column
// panel or one C block each, as many of each in flight as a shim's descriptors and task queues
// hold. Output tiles are made row block by row block of C, within one from left to right. How the
// streams lie on the array: output_stationary_shape.hpp. Source: Taka et al., "Striking the
// Balance: GEMM Performance Optimization Across Generations of Ryzen AI NPUs" (2025); object FIFO
// lowering of mlir-aie for locks.
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct LoweredGemm {
    arch::npu::program::Program program;
    ArrayShape shape;                  // cores, channels and descriptors it uses
    std::int64_t m = 0, k = 0, n = 0;  // padded problem
    bool c_column_major = false;
    std::int64_t output_tiles = 0;       // per core
    std::int64_t calls_per_tile = 0;     // K / k_ct
    std::int64_t core_bytes = 0;         // core memory used, stack included
    std::int64_t memory_tile_bytes = 0;  // largest use of a memory tile
    double padding_waste(const GemmProblem& problem) const {
        return 1.0 - problem.macs() /
                         (static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n));
    }
};

// Throws ConfigError with what `problems_of` (mapping_problems.hpp) says.
LoweredGemm lower(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                  const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::output_stationary
