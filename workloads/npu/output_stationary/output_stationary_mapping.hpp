// The keys of `mapping.output_stationary`.
#pragma once

#include <cstdint>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/npu/shim_columns.hpp"

namespace tilesim::workloads::npu::output_stationary {

struct OutputStationaryMapping {
    std::int64_t m_ct = 0, k_ct = 0, n_ct = 0;  // core tile; 0: to be chosen
    std::int64_t k_mt = 0;                      // memory tile block along K
    std::int64_t c_buffers = 1;                 // C tiles per core
    enum class ShimDescriptors {
        Overlapped,  // rewritten as soon as the oldest C block is out
        Sequential   // rewritten when everything outstanding is
    } shim_bds = ShimDescriptors::Overlapped;
    std::int64_t columns = 0;        // of those whose shim has a DMA; 0: all
    std::int64_t rows = 0;           // of cores, from the south; 0: all
    std::int64_t shim_channels = 0;  // of a shim, each way, that are used; 0: all
    std::int64_t a_buffers = 2;      // A tiles per core
    std::int64_t b_buffers = 2;      // B tiles per core
    std::int64_t in_flight = 0;      // reaches the shims are given ahead; 0: all they can take,
                                     // one where `sequential`
    bool a_along_columns = false;    // A up the columns of cores, B along the rows
    bool c_column_major = false;     // in DRAM
    // How the C tiles of a column of cores leave its memory tile: one after the other, or line by
    // line through all of them, where they lie side by side in DRAM.
    bool c_by_line = false;
    bool sums_apart = false;       // sums stay in f32 buffers of their own, cast to C at the end
    std::int64_t cast_lanes = 0;   // of an iteration of that cast's loop, where the compiler does
                                   // not overlap iterations; 0: it does
    bool cast_by_element = false;  // that loop takes its vectors apart
    // What one shim descriptor moves: the panels and the C block of an output tile, or of all
    // output tiles of a row of blocks (of all, where a row has but one).
    enum class Reach { OutputTile, BlockRow } reach = Reach::OutputTile;
    std::int64_t reach_tiles = 0;  // of a row of blocks, where `reach` is block_row; 0: most it can
    std::string mode{};            // of the kernel, where the device has several of the types
    std::int64_t b_k_mt = 0;       // B's block along K; 0: k_mt, or k_ct where B is row-major
    std::int64_t a_blocks = 0;  // blocks of A per memory tile and stream; 0: as many as a_buffers
    std::int64_t b_blocks = 0;  // the same of B
    std::int64_t c_blocks = 0;  // C tiles of a core in its memory tile; 0: as many as c_buffers

    std::int64_t columns_of(const arch::npu::NpuConfig& config) const {
        return columns == 0 ? ShimColumns::count(config) : columns;
    }
    std::int64_t rows_of(const arch::npu::NpuConfig& config) const {
        return rows == 0 ? config.core_rows : rows;
    }
};

// The keys below `mapping.output_stationary`; those that are left out keep their values.
void read_keys(arch::base::config::Node& node, OutputStationaryMapping& mapping);
// Whether its tile is to be chosen, or a part of it, with whatever else is not stated.
bool leaves_open(const arch::base::config::Node& node, const OutputStationaryMapping& mapping);

// As a row of a table calls it: the tile, and what is not as usual.
std::string name_of_tile(const OutputStationaryMapping& mapping);

}  // namespace tilesim::workloads::npu::output_stationary
