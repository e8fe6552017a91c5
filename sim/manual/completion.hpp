// Completion scripts for shells, written from the command line's own definition.
#pragma once

#include <string>

#include "sim/manual/command_tree.hpp"

namespace tilesim::sim::manual {

// For bash-completion: commands, their options, the choices of an option, and files.
std::string bash_completion(const Command& root);
// For zsh, with descriptions: a file _tilesim on the fpath.
std::string zsh_completion(const Command& root);

}  // namespace tilesim::sim::manual
