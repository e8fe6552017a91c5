// For tests: a small device whose constraints are pairwise different primes, so that a confused one
// shows.
#pragma once

#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

inline MemoryConfig prime_device() {
    using base::Cycles;
    MemoryConfig config;
    config.bank_groups = 4;
    config.banks_per_group = 4;
    config.timing = {.burst = Cycles{4},
                     .activate_command = Cycles{2},
                     .column_command = Cycles{3},
                     .read_latency = Cycles{23},
                     .write_latency = Cycles{19},
                     .tRCD = Cycles{29},
                     .tRP = Cycles{31},
                     .tRAS = Cycles{67},
                     .tRC = Cycles{101},
                     .tRRD_S = Cycles{5},
                     .tRRD_L = Cycles{7},
                     .tFAW = Cycles{43},
                     .tCCD_S = Cycles{11},
                     .tCCD_L = Cycles{13},
                     .tCCD_L_WR = Cycles{37},
                     .tRTP = Cycles{17},
                     .tWR = Cycles{41},
                     .tWTR_S = Cycles{3},
                     .tWTR_L = Cycles{47},
                     .tRTW = Cycles{2},
                     .tREFI = Cycles{10'007},
                     .tRFC = Cycles{307}};
    return config;
}

}  // namespace tilesim::arch::memory::device
