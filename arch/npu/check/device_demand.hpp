// What a program asks of the device's limits: DMA fields, channels, descriptors, locks, columns.
//
// Of a limit that it stays below the run may say that it cannot matter (device_use.hpp); of one
// that it is beyond, its key and both numbers tell why it cannot run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// Of the DMAs of one kind of tile.
struct DmaDemand {
    std::int64_t channels = 0;
    std::int64_t descriptors = 0;
    std::int64_t dimensions = 0;
    std::int64_t length = 0;  // words, the longest; of a field that stores it
    std::int64_t step = 0;    // words, the longest; of one that stores it less 1
    std::int64_t wrap = 0;    // of all but outermost dimensions
    std::int64_t repeats = 0;
    bool tokens = false;
    bool iteration = false;
    bool padding = false;
    bool double_buffer = false;

    std::int64_t length_bits() const;
    std::int64_t step_bits() const;
    std::int64_t wrap_bits() const;
};

// Of the tiles of one kind.
struct TileDemand {
    std::int64_t bytes = 0;  // up to the end of the last buffer that is placed
    std::int64_t locks = 0;
};

struct DeviceDemand {
    std::int64_t columns = 0;
    std::int64_t core_rows = 0;
    std::int64_t stream_inputs = 0;
    std::int64_t stream_outputs = 0;
    std::map<program::TileKind, DmaDemand> dmas;
    std::map<program::TileKind, TileDemand> tiles;
};

DeviceDemand demand_of(const program::Program& program, const NpuConfig& config);

// A limit of the device that a program is beyond.
struct Shortfall {
    std::string key;     // "npu.core.locks"
    std::string needed;  // "at least 7", "on"
    std::string found;   // "1", "off"
    std::string why;     // what asks for it, "a descriptor moves 155520 words"; may be empty
};

// In the order of the device's description.
std::vector<Shortfall> shortfalls(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
