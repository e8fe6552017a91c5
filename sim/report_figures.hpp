// Figures of a result that tables, CSV and JSON all show.
#pragma once

#include "workloads/result.hpp"

namespace tilesim::sim {

// Share of the bursts, 0 to 1.
double row_hit_rate(const arch::memory::port::MemoryTotals& totals);
// Of DRAM, both ways; 0 where there is none.
double gb_per_s(const workloads::RunResult& result);

}  // namespace tilesim::sim
