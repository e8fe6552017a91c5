// In which order the elements of tiles lie and travel: rows in DRAM and memory tiles, mmul
// sub-tiles in cores (kernel_function.hpp).
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/gemm.hpp"
#include "workloads/npu/transfer_length.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_mapping.hpp"

namespace tilesim::workloads::npu::weight_stationary {

class TileLayouts {
  public:
    TileLayouts(const GemmProblem& problem, const WeightStationaryMapping& mapping,
                const arch::npu::MultiplyMode& mode)
        : problem_(problem), map_(mapping), mode_(mode) {}

    // Words of a tile.
    std::int64_t a() const { return whole_words(map_.m_ct * map_.k_ct, problem_.a); }
    std::int64_t b() const { return whole_words(map_.k_ct * map_.n_ct, problem_.b); }
    std::int64_t c() const { return whole_words(map_.m_ct * map_.n_ct, problem_.c); }

    // How descriptors walk a tile, by where they stand.
    arch::npu::program::BufferDescriptor a_leaves_memory_tile() const;
    arch::npu::program::BufferDescriptor a_enters_core() const;
    arch::npu::program::BufferDescriptor b_leaves_memory_tile() const;
    arch::npu::program::BufferDescriptor b_enters_core() const;
    arch::npu::program::BufferDescriptor c_leaves_memory_tile() const;

  private:
    const GemmProblem& problem_;
    const WeightStationaryMapping& map_;
    const arch::npu::MultiplyMode& mode_;
};

}  // namespace tilesim::workloads::npu::weight_stationary
