// A workload on one device as well as that device can do it: a cell of the tables that compare
// devices.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/batch.hpp"

namespace tilesim::sim::explore {

struct SearchEffort {
    double seconds =
        5;  // of a cell, about; 0: the scenario's mapping where it fits, or the default
    std::size_t processes = 1;
};

struct BestRun {
    std::string device;
    Simulated run;        // whole, with the mapping found
    std::string mapping;  // as results print it
    std::string command;  // that repeats it
    std::string search;   // what was tried, and what that proves; why not the scenario's mapping
};

// Throws ConfigError where the scenario's mapping is wrong on its own device: a mistake, not one
// that other machines cannot take.
void check_own_mapping(const Job& base);

// The job on this device. The scenario's mapping is one of those tried where it fits.
// Throws ConfigError where the scenario itself is wrong, whatever the device.
BestRun best_run(const Job& base, const std::string& device, const SearchEffort& effort);

nlohmann::ordered_json to_json(const BestRun& best);

}  // namespace tilesim::sim::explore
