// What a trace's activities add up to over time: how many cores work, how busy DRAM's busses are.
#pragma once

#include <string>
#include <vector>

#include "sim/trace/activity_log.hpp"

namespace tilesim::sim::trace {

struct Counter {
    struct Value {
        arch::base::Femtoseconds since{0};
        double value = 0;
    };
    std::string name;
    std::vector<Value> values;  // in the order of time; each holds until the next
};

// "busy cores", "DRAM busses busy [%]" (a value for each `window`), "ports with reads waiting";
// only those whose components are in the log.
std::vector<Counter> counters_of(const ActivityLog& log, arch::base::Femtoseconds window);

}  // namespace tilesim::sim::trace
