// Commands that a user can paste into a shell.
#pragma once

#include <string>

#include "sim/explore/sweep_file.hpp"

namespace tilesim::sim::explore {

// A word of a shell command, whatever is in it.
std::string shell_word(const std::string& text);
// `tilesim run FILE --set ...`: the run that these settings make of the file.
std::string run_command(const std::string& file, const Settings& settings);

}  // namespace tilesim::sim::explore
