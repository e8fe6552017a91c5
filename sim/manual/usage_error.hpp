// A command line that cannot be understood: what is wrong with it and what to try next.
#pragma once

#include <string>
#include <vector>

#include "sim/manual/command_tree.hpp"

namespace tilesim::sim::manual {

// `words`: the command line without the program; `otherwise`: what the parser says, for what is
// neither an unknown command nor an unknown option.
std::string usage_error(const Command& root, const std::vector<std::string>& words,
                        const std::string& otherwise);

}  // namespace tilesim::sim::manual
