// What a GotoBLAS mapping is expected to take: the host and the core as two stages that the buffers
// of B_r couple, block by block, and C's way out behind each block.
//
// Ignores: C's stream running dry, contention in DRAM.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/gotoblas/gotoblas.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::gotoblas {

double expected_ns(const GemmProblem& problem, const GotoblasMapping& mapping,
                   const arch::npu::NpuConfig& config, const MemoryPath& path);

}  // namespace tilesim::workloads::npu::gotoblas
