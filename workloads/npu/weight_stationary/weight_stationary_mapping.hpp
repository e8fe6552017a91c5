// The keys of `mapping.weight_stationary`.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::weight_stationary {

struct WeightStationaryMapping {
    // Tiles of 0: chosen.
    std::int64_t m_ct = 0;            // rows of the A and C tiles that stream past
    std::int64_t k_ct = 0, n_ct = 0;  // the tile of B a core keeps
    enum class Reduction {
        Cascade,    // the cores of a column hand C on
        MemoryTile  // their parts meet in the memory tile, and one more core adds them
    } reduction = Reduction::Cascade;
    std::int64_t a_buffers = 2;  // A tiles per core, and per memory tile and row of cores
    std::int64_t c_buffers = 2;  // C tiles wherever C waits for a DMA
    std::int64_t columns = 0;    // of those whose shim has a DMA; 0: all
    std::int64_t rows = 0;       // of cores that multiply, from the south; 0: all there can be

    bool adds() const { return reduction == Reduction::MemoryTile; }
    std::int64_t columns_of(const arch::npu::NpuConfig& config) const {
        return columns == 0 ? ShimColumns::count(config) : columns;
    }
    std::int64_t rows_of(const arch::npu::NpuConfig& config) const {
        return rows == 0 ? config.core_rows - (adds() ? 1 : 0) : rows;
    }
};

// The keys below `mapping.weight_stationary`; those that are left out keep their values.
void read_keys(arch::base::config::Node& node, WeightStationaryMapping& mapping);
// Whether what was read there leaves tile sizes to be chosen.
bool leaves_open(const arch::base::config::Node& node, const WeightStationaryMapping& mapping);

}  // namespace tilesim::workloads::npu::weight_stationary
