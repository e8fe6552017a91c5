// Which mappings of a matrix-vector product are worth a try.
#pragma once

#include <vector>

#include "arch/npu/npu_config.hpp"
#include "workloads/npu/gemv/gemv_mapping.hpp"
#include "workloads/npu/gemv/matrix_vector.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu::gemv {

// The same with the fewest results a core can have, where it does not say how many: what limits it
// is what limits all others.
GemvMapping least_of(GemvMapping mapping);
// Those that fit.
std::vector<GemvMapping> mappings_of(const MatrixVector& problem,
                                     const arch::npu::NpuConfig& config);
// Those that fit and differ from `mapping` in one key.
std::vector<GemvMapping> variants_of(const MatrixVector& problem, const GemvMapping& mapping,
                                     const arch::npu::NpuConfig& config);
// Of each number of columns the one expected to be fastest, the fastest first. Throws ConfigError
// where none fits.
std::vector<GemvMapping> promising_mappings(const MatrixVector& problem,
                                            const arch::npu::NpuConfig& config,
                                            const MemoryPath& path);

}  // namespace tilesim::workloads::npu::gemv
