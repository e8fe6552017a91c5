// Where the time went: state accounts gathered by component class, and what they say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/stats.hpp"

namespace tilesim::workloads {

struct RunResult;

// Time that accounts had been charged before what is asked for began, by their states.
using ChargedBefore = std::map<const arch::base::stats::StateAccount*, std::vector<std::int64_t>>;

// Component class ("core", "shim_mm2s0", "dram_channel" ...) -> state -> cycles, averaged over the
// class's components. States nobody was in are left out.
std::vector<std::pair<std::string, std::vector<std::pair<std::string, double>>>> where_time_went(
    const arch::base::stats::Group& root, const ChargedBefore& before = {});

// Share of its time in which each component did its work: kernels, streaming, data on the bus.
std::vector<std::pair<std::string, double>> busy_shares(const arch::base::stats::Group& root,
                                                        const ChargedBefore& before = {});

// Cycles a component class spent in a state; 0 where it was never in it.
double state_of(const RunResult& result, const std::string& component, const std::string& state);
bool has_class(const RunResult& result, std::string_view component);

using Cause = std::pair<double, std::string>;  // cycles, and what a reader would change
// The two longest become bottleneck and next_bottleneck; "none" where nothing took time.
void take_longest(RunResult& result, std::vector<Cause> causes);

// Something that could be faster.
struct Saving {
    std::string cause;
    double path = 0;         // cycles of the critical path
    double half = 0;         // cycles saved where it is twice as fast
    double most = 0;         // the same of all its path
    std::string limit = {};  // what keeps it from saving all of it; empty: nothing does
};
// By what they save where they are made twice as fast, to within a hundredth of the time, and by
// their path: bottleneck, what keeps it from saving more or else what comes next, how much the
// bottleneck saves at most, and which two it takes to shorten the longest part of the path.
void take_most_saving(RunResult& result, std::vector<Saving> savings, double total);
// The causes are the states of one component class: "<prefix><state>".
void name_bottlenecks(RunResult& result, std::string_view component, const std::string& prefix);

}  // namespace tilesim::workloads
