// A matrix product in two launches of one run: an output-stationary one whose f32 sums go to DRAM,
// and another, in a configuration of its own, that casts them to C. Sums stay exact over all of K,
// and cores need no room for both; what it costs is that the array is set up twice a run.
//
// Source: mlir-air's fused-cast GEMM (programming_examples/matrix_multiplication), whose two
// launches its compiler puts into one run-time sequence with --expand-load-pdis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/bounds.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/elementwise/elementwise_mapping.hpp"
#include "workloads/npu/elementwise/elementwise_problem.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/memory_path.hpp"
#include "workloads/npu/output_stationary/output_stationary_mapping.hpp"
#include "workloads/npu/written_configuration.hpp"

namespace tilesim::workloads::npu::fused_cast {

// The keys of `mapping.fused_cast`.
struct FusedCastMapping {
    SetUp set_up = SetUp::Written;  // both launches; loaded: the second, the first is there
    output_stationary::OutputStationaryMapping product;
    elementwise::ElementwiseMapping cast{.elements_per_call = 2048};  // mlir-air: cast_tile_n
};
void read_keys(arch::base::config::Node& node, FusedCastMapping& mapping);

// The launches' own problems.
GemmProblem product_of(const GemmProblem& problem);
elementwise::ElementwiseProblem cast_of(const GemmProblem& problem, const FusedCastMapping& mapping,
                                        const arch::npu::NpuConfig& config);

// Sentences that name what limits it; none when it can run.
std::vector<std::string> problems_of(const GemmProblem& problem, const FusedCastMapping& mapping,
                                     const arch::npu::NpuConfig& config);

// What no run beats: one launch goes after the other.
GemmBounds bounds_of(const GemmProblem& problem, const FusedCastMapping& mapping,
                     const arch::npu::NpuConfig& config, const MemoryPath& path);

struct LoweredFusedCast {
    arch::npu::program::Program program;  // the product, the cast behind it
    GemmMatrices matrices;
    double padding_waste = 0;
    std::vector<std::int64_t> writes;  // of each launch's configuration; none: they are loaded
};
// Throws ConfigError with what `problems_of` says.
LoweredFusedCast lower(const GemmProblem& problem, const FusedCastMapping& mapping,
                       const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu::fused_cast
