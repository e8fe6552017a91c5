// The streams of an output-stationary GEMM.
#pragma once

#include "arch/npu/program/program.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"

namespace tilesim::workloads::npu::output_stationary {

// Channels of a core: A and B come in, C goes out.
inline constexpr std::int64_t kCoreA = 0;
inline constexpr std::int64_t kCoreB = 1;
inline constexpr std::int64_t kCoreC = 0;

void add_routes(arch::npu::program::Program& program, const ArrayShape& shape,
                const OutputStationaryMapping& mapping);

}  // namespace tilesim::workloads::npu::output_stationary
