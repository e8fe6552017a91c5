// The memory alone under a stream of requests.
#pragma once

#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

RunResult run_stream(const Scenario& scenario, const arch::memory::StreamConfig& stream);

}  // namespace tilesim::sim::system
