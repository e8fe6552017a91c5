// A handful of scenarios simulated at once, for the answers that need several runs.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/simulate.hpp"

namespace tilesim::sim::explore {

struct Job {
    std::string text;  // of the scenario
    std::string file;  // for its messages
    Settings overrides;
};

// The job as it is without a mapping of its own: a run chooses one.
Job without_mapping(Job job);

// In the order of `jobs`. Those an interrupt kept from running have the status "interrupted".
std::vector<Simulated> simulate_all(const std::vector<Job>& jobs, std::size_t processes);

}  // namespace tilesim::sim::explore
