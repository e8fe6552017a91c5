// The weight-stationary GEMM dataflow of arrays with memory tiles, lowered to a program.
//
// Every core keeps a k_ct x n_ct tile of B while the A tiles of its slice of K stream past, once
// for every n_ct columns of N a column of cores has: A is read again in each of these passes, B
// once. The parts of a C tile that the cores of a column compute are added
//   cascade:     on their way south: a core gets what the slices before it add up to, adds its
//                product to it and puts it on; the southernmost core sends C to the memory tile;
//   memory_tile: by one more core of the column, to which the memory tile sends the parts.
// No part of C ever comes back to the cores, so all of K has to fit in their B tiles.
//
// Models:  what stands in the program: a core gets a whole C tile, multiplies, and puts it.
// Ignores: kernels that read and write the cascade between their multiplications.
#pragma once

#include <cstdint>

#include "arch/npu/program/program.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_shape.hpp"

namespace tilesim::workloads::npu::weight_stationary {

struct LoweredGemm {
    arch::npu::program::Program program;
    ArrayShape shape;
    std::int64_t m = 0, k = 0, n = 0;  // padded problem
    double padding_waste(const GemmProblem& problem) const {
        return 1.0 - problem.macs() /
                         (static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n));
    }
};

// The order products are added in: one slice of K after the other, or, where parts of C are added,
// each by itself.
SumOrder sum_order(const GemmProblem& problem, const WeightStationaryMapping& mapping);

// Throws ConfigError with the reasons when the mapping cannot run on the array.
LoweredGemm lower(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                  const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::weight_stationary
