// A scenario of several agents: together, each alone, and what lies between.
#pragma once

#include "arch/base/probe.hpp"
#include "arch/memory/controller/command_log.hpp"
#include "sim/scenario.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim::session {

// `listener` hears the run together, and `log` its commands; both may be null.
workloads::RunResult run_agents(const Scenario& scenario, arch::base::ProbeListener* listener,
                                arch::memory::controller::CommandLog* log);

// A scenario with `traffic`: what it computes and the requests beside it as two agents on all of
// the memory. The result is that of the first, with the requests' latencies and what they cost each
// other.
workloads::RunResult run_beside_traffic(const Scenario& scenario,
                                        arch::base::ProbeListener* listener,
                                        arch::memory::controller::CommandLog* log);

}  // namespace tilesim::sim::session
