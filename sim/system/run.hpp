// Builds the system a scenario names, runs it under SystemC and collects the result.
#pragma once

#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

// Once per process when the scenario needs simulation (SystemC elaborates once).
RunResult run(const Scenario& scenario);

}  // namespace tilesim::sim::system
