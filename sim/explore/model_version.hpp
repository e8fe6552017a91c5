// Which model made a result: the release and a hash over the sources that decide results.
#pragma once

#include <string>

namespace tilesim::sim::explore {

std::string model_version();  // "0.1.0+1f0c5a9e2b77"

}  // namespace tilesim::sim::explore
