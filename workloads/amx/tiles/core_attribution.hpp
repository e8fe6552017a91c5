// What a faster one of would shorten a run of cores.
#pragma once

namespace tilesim::workloads {
struct RunResult;
}  // namespace tilesim::workloads

namespace tilesim::workloads::amx::tiles {

// Fills in bottleneck and next_bottleneck from `where`: the states of the cores, of which those
// that wait for data are DRAM's where its channels hardly ever lack a request.
void name_core_bottlenecks(RunResult& result);

}  // namespace tilesim::workloads::amx::tiles
