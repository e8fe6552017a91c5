// The parts of a scenario that only AMX devices have.
#pragma once

#include <string>

#include "sim/scenario.hpp"

namespace tilesim::sim {

// `path`, which is relative to the scenario file that names it.
std::string beside(const std::string& scenario_file, const std::string& path);

AmxProgramWorkload read_amx_program(arch::base::config::Node node,
                                    const std::string& scenario_file);

// Reports what a scenario for an AMX device, or with AMX parts for another, cannot mean. True when
// no other device's checks are wanted.
bool check_amx(arch::base::config::Node& root, const Scenario& scenario);

}  // namespace tilesim::sim
