// The AMX system: cores running generated or hand-written instructions over shared L3 and DRAM.
#pragma once

#include <string>

#include "sim/result.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

RunResult run_amx(const Scenario& scenario);

// Core cycles alone, without SystemC: as often as wanted in a process.
std::int64_t amx_cycles(const Scenario& scenario);

// Every thread's instructions in their text form.
std::string amx_text(const Scenario& scenario);

}  // namespace tilesim::sim::system
