// Which numbers of a memory cannot have mattered to a run, from what the memory did.
#pragma once

#include <string>
#include <vector>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/port/memory_totals.hpp"

namespace tilesim::arch::memory::controller {

// Key paths ("memory.timing.tWR"). `guest`: somebody was lent channels and kept to their timing.
std::vector<std::string> not_exercised(const device::MemoryConfig& config,
                                       const port::MemoryTotals& totals, bool guest);

}  // namespace tilesim::arch::memory::controller
