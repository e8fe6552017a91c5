// Builds the system a scenario names, runs it under SystemC and collects the result.
#pragma once

#include <string>

#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

// Once per process when the scenario needs simulation (SystemC elaborates once).
RunResult run(const Scenario& scenario);
// The physical program of a scenario, with what it uses of the device.
std::string lowered_text(const Scenario& scenario);

}  // namespace tilesim::sim::system
