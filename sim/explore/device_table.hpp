// One workload on several devices: who is fastest, and what holds the others back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/best_run.hpp"

namespace tilesim::sim::explore {

// Beneath every comparison of devices: time alone does not say which is the better choice.
inline constexpr const char* kEnergyNote = "energy is not modelled: docs/exploring.md says why\n";

// The fastest first, then those that could not run.
std::vector<BestRun> run_on_devices(const Job& base, const std::vector<std::string>& devices,
                                    const SearchEffort& effort);

std::string to_table(const std::vector<BestRun>& runs);
nlohmann::ordered_json to_json(const std::vector<BestRun>& runs);

}  // namespace tilesim::sim::explore
