#include "sim/report_figures.hpp"

namespace tilesim::sim {

double row_hit_rate(const arch::memory::port::MemoryTotals& totals) {
    return totals.bursts > 0
               ? static_cast<double>(totals.row_hits) / static_cast<double>(totals.bursts)
               : 0.0;
}

double gb_per_s(const workloads::RunResult& result) {  // bytes a ns are GB/s
    return result.memory && result.time_ns > 0
               ? static_cast<double>(result.memory->bytes_read + result.memory->bytes_written) /
                     result.time_ns
               : 0.0;
}

}  // namespace tilesim::sim
