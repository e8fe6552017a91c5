// What bound an array's run, from where its components' time went.
#pragma once

#include "workloads/result.hpp"

namespace tilesim::workloads::npu {

// Fills in bottleneck and next_bottleneck from `where` and, where they are known, the bounds.
void name_array_bottlenecks(RunResult& result);

}  // namespace tilesim::workloads::npu
