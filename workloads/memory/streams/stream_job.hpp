// The memory alone under a stream of requests.
#pragma once

#include "arch/base/probe.hpp"
#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

// `listener` hears what the channels do; may be null.
RunResult run_stream(const Scenario& scenario, const arch::memory::traffic::StreamConfig& stream,
                     arch::base::ProbeListener* listener = nullptr);

}  // namespace tilesim::sim::system
