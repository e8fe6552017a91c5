// A scenario of several agents: together, each alone, and what lies between.
#pragma once

#include "arch/base/probe.hpp"
#include "sim/scenario.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim::session {

// `listener` hears the run together; may be null.
workloads::RunResult run_agents(const Scenario& scenario, arch::base::ProbeListener* listener);

}  // namespace tilesim::sim::session
