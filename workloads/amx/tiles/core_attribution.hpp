// What a faster one of would shorten a run of cores.
#pragma once

#include <string>
#include <vector>

#include "workloads/attribution.hpp"

namespace tilesim::workloads::amx::tiles {

// Fills in bottleneck and next_bottleneck from `where`: the states of the cores, of which those
// that wait for data are DRAM's where its channels hardly ever lack a request. `overlapped`: of the
// cycles that multiply those after which the next product's data had not come, by the state of that
// wait, which they count as: a faster multiplier would wait longer.
void name_core_bottlenecks(RunResult& result, const std::vector<Cause>& overlapped = {});

}  // namespace tilesim::workloads::amx::tiles
