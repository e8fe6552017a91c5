// What bound an array's run, from where its components' time went.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arch/base/stats.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::npu {

// Of each class of shim channels ("shim_mm2s0") the one that is without a transfer or without room
// for the least time: state -> share of its time. Cores share streams, so that the others wait for
// what this one waits for.
using ShimPace = std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>>;
ShimPace shim_pace(const arch::base::stats::Group& root);

// Fills in bottleneck and next_bottleneck from `where` and, where they are known, the bounds and
// what sets the shims' pace.
void name_array_bottlenecks(RunResult& result, const ShimPace& pace = {});

}  // namespace tilesim::workloads::npu
