// What a program uses of the device, and so which of the device's numbers cannot matter to it.
//
// A number cannot matter when the mechanism it belongs to is not used (no cascade, no packet route,
// no DMA of that kind of tile) or when it is a limit that the program stays below. What a run alone
// can tell is asked of the run: NpuPeaks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// How far a run went towards limits that no program states.
struct NpuPeaks {
    // Tasks that waited in the queue of one channel, by kind of tile.
    std::int64_t core_tasks = 0;
    std::int64_t memory_tasks = 0;
    std::int64_t shim_tasks = 0;
};

// Key paths ("npu.cascade.fifo") in the order of the device's description. The program must have
// been placed and routed.
std::vector<std::string> not_exercised(const program::Program& program, const NpuConfig& config,
                                       const NpuPeaks& peaks);

}  // namespace tilesim::arch::npu::check
