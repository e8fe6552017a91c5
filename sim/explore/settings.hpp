// `--set key.path=value`, as every command takes it.
#pragma once

#include <string>
#include <vector>

#include "sim/explore/sweep_file.hpp"

namespace tilesim::sim::explore {

// Throws ConfigError where a text is no key and value, or sets what one before it has set.
Settings parse_settings(const std::vector<std::string>& texts);

}  // namespace tilesim::sim::explore
