// The keys of `mapping.output_stationary`.
#pragma once

#include <cstdint>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct OutputStationaryMapping {
    std::int64_t m_ct = 0, k_ct = 0, n_ct = 0;  // core tile
    std::int64_t k_mt = 0;                      // memory tile block along K
    std::int64_t c_buffers = 1;                 // C tiles per core
    enum class ShimDescriptors {
        Overlapped,  // rewritten as soon as the oldest C block is out
        Sequential   // rewritten when everything outstanding is
    } shim_bds = ShimDescriptors::Overlapped;
    std::int64_t columns = 0;    // of cores, from the west; 0: all
    std::int64_t rows = 0;       // of cores, from the south; 0: all
    std::int64_t a_buffers = 2;  // A tiles per core, blocks of A per memory tile and row of cores
    std::int64_t b_buffers = 2;  // B tiles per core, blocks of B per memory tile
    std::int64_t in_flight = 0;  // output tiles the shims are given ahead; 0: all they can take

    std::int64_t columns_of(const arch::npu::NpuConfig& config) const {
        return columns == 0 ? config.columns : columns;
    }
    std::int64_t rows_of(const arch::npu::NpuConfig& config) const {
        return rows == 0 ? config.core_rows : rows;
    }
};

// The keys below `mapping.output_stationary`; those that are left out keep their values.
void read_keys(arch::base::config::Node& node, OutputStationaryMapping& mapping);

}  // namespace tilesim::workloads::npu::output_stationary
