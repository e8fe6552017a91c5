// Timings for tests.
#pragma once

#include "arch/memory/device/memory_config.hpp"
#include "arch/pim/pim_config.hpp"

namespace tilesim::arch::pim {

// Pairwise different primes, so that a confused constraint shows.
inline memory::device::MemoryConfig prime_memory() {
    memory::device::MemoryConfig config;
    config.bank_groups = config.banks_per_group = 4;
    memory::device::DramTiming& t = config.timing;
    t.activate_command = base::Cycles{2};
    t.burst = base::Cycles{3};
    t.read_latency = base::Cycles{23};
    t.write_latency = base::Cycles{13};
    t.tRCD = base::Cycles{29};
    t.tRAS = base::Cycles{67};
    t.tRC = base::Cycles{97};
    t.tRRD_S = base::Cycles{9};
    t.tRRD_L = base::Cycles{10};
    t.tFAW = base::Cycles{53};
    t.tWR = base::Cycles{41};
    t.tWTR_L = base::Cycles{47};
    t.tRTW = base::Cycles{5};
    return config;
}

inline PimConfig prime_pim() {
    PimConfig config;
    config.command_interval = base::Cycles{7};
    config.mac_to_precharge = base::Cycles{11};
    config.precharge_all = base::Cycles{31};
    config.drain = base::Cycles{17};
    return config;
}

}  // namespace tilesim::arch::pim
