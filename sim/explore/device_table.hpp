// One workload on several devices: who is fastest, and what holds the others back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/batch.hpp"

namespace tilesim::sim::explore {

// Beneath every comparison of devices: time alone does not say which is the better choice.
inline constexpr const char* kEnergyNote = "energy is not modelled: docs/exploring.md says why\n";

// The job on another device, with the scenario's mapping where it fits.
struct DeviceJob {
    Job job;
    bool own_mapping = false;  // it does not fit: tilesim will choose one
};
DeviceJob on_device(const Job& base, const std::string& device);

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
