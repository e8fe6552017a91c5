// The keys that no axis of a sweep sets, and their values: what conditions may name besides axes.
#pragma once

#include <map>
#include <string>

#include "sim/explore/sweep_file.hpp"

namespace tilesim::sim::explore {

// As the readers of scenario and device see them, defaults included. Throws ConfigError when the
// base scenario is none.
std::map<std::string, std::string> base_values(const SweepFile& sweep);

}  // namespace tilesim::sim::explore
