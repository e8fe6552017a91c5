// Where the time went: state accounts gathered by component class, and what they say.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/stats.hpp"

namespace tilesim::sim {

struct RunResult;

// Component class ("core", "shim_mm2s0", "dram_channel" ...) -> state -> cycles, averaged over the
// class's components. States nobody was in are left out.
std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where_time_went(
    const arch::base::stats::Group& root);

// Share of its time in which each component did its work: kernels, streaming, data on the bus.
std::vector<std::pair<std::string, double>> busy_shares(const arch::base::stats::Group& root);

// Fills in bottleneck and next_bottleneck from `where`; "none" where nothing took time.
void name_bottlenecks(RunResult& result);
// The same from the states of one component class alone: "<prefix><state>".
void name_bottlenecks(RunResult& result, std::string_view component, const std::string& prefix);

}  // namespace tilesim::sim
