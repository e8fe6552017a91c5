// Builds the system a scenario names, runs it under SystemC and collects the result.
#pragma once

#include <string>

#include "arch/base/probe.hpp"
#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

// Once per process when the scenario needs simulation (SystemC elaborates once). `listener` hears
// the components' activities; it changes nothing.
RunResult run(const Scenario& scenario, arch::base::ProbeListener* listener = nullptr);
// The physical program of a scenario, with what it uses of the device.
std::string lowered_text(const Scenario& scenario);

}  // namespace tilesim::sim::system
