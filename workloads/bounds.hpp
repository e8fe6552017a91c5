// Analytical bounds of an output-stationary GEMM, printed beside every simulated result.
#pragma once

#include "arch/memory/device/memory_config.hpp"
#include "workloads/output_stationary.hpp"

namespace tilesim::workloads {

struct GemmBounds {
    double compute_ns = 0;  // kernel calls alone, back to back on every core
    double stream_ns = 0;   // the A or B stream of a core or its shim at its full rate
    double memory_ns = 0;   // A, B and C bytes at the DRAM's peak rate
    double dram_bytes = 0;
    double kernel_macs_per_cycle = 0;  // of one call
    double peak_macs_per_cycle = 0;    // of a core's mmul

    double tightest_ns() const;
    const char* binding() const;
};

GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const LoweredGemm& lowered, const arch::npu::NpuConfig& config,
                     const arch::memory::device::MemoryConfig& memory);

// The same before lowering: for searches that look at many mappings.
GemmBounds bounds_of(const GemmProblem& problem, const OutputStationaryMapping& mapping,
                     const arch::npu::NpuConfig& config,
                     const arch::memory::device::MemoryConfig& memory);

// A mapping for a scenario that states none: the one with the least bound among tiles that fit,
// found by enumeration over multiples of the mmul blocks. Throws ConfigError when none fits.
OutputStationaryMapping choose_mapping(const GemmProblem& problem,
                                       const arch::npu::NpuConfig& config,
                                       const arch::memory::device::MemoryConfig& memory);

}  // namespace tilesim::workloads
