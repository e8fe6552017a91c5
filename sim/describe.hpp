// What `tilesim describe` prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario.hpp"

namespace tilesim::sim {

// Every parameter of a device or a scenario: value, default, range, meaning, source.
std::string description(const std::string& device_or_file,
                        const std::vector<std::pair<std::string, std::string>>& overrides);

}  // namespace tilesim::sim
