// What bound an array's run, from what led to its end and what its parts needed besides.
#pragma once

#include <array>

#include "arch/base/occupancy.hpp"
#include "arch/npu/critical_path.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::npu {

// In cycles of the array that were simulated.
struct ArrayFindings {
    std::array<double, arch::npu::CriticalPath::kParts> path{};  // the critical one
    using Need = arch::base::Occupancy<double>;
    Need shim_in;           // of the channels that move words into the array the busiest
    Need shim_out;          // of those out of it
    Need way;               // of the parts of the way to memory
    double first_task = 0;  // when any shim channel had something to do
};

// Fills in bottleneck, next_bottleneck and most_saved_percent; `result` has where the time went
// and, where they are known, its bounds.
void name_array_bottlenecks(RunResult& result, const ArrayFindings& findings);

}  // namespace tilesim::workloads::npu
