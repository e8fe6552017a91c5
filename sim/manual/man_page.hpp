// Man pages: tilesim(1), with all commands, and tilesim-COMMAND(1) for each.
#pragma once

#include <string>

#include "sim/manual/command_tree.hpp"

namespace tilesim::sim::manual {

// The page of a command; `path`: the commands before it, "tilesim-sweep" for those of `sweep`.
std::string man_page(const Command& command, const std::string& path);

// Writes the pages of `root` and of every command below it into a folder: tilesim.1,
// tilesim-run.1, ... Throws IoError.
void write_man_pages(const Command& root, const std::string& folder);

}  // namespace tilesim::sim::manual
