// One workload on several devices: who is fastest, and what holds the others back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/batch.hpp"

namespace tilesim::sim::explore {

struct DeviceRun {
    std::string device;
    bool own_mapping = false;  // the scenario's does not fit it: tilesim chose one
    Simulated run;
};

// The fastest first, then those that could not run.
std::vector<DeviceRun> run_on_devices(const Job& base, const std::vector<std::string>& devices,
                                      std::size_t processes);

std::string to_table(const std::vector<DeviceRun>& runs);
nlohmann::ordered_json to_json(const std::vector<DeviceRun>& runs);

}  // namespace tilesim::sim::explore
