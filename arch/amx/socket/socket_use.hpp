// Which numbers of a socket cannot have mattered to a run: those of instructions its programs do
// not have, of cores that were idle and of levels that nobody asked.
#pragma once

#include <string>
#include <vector>

#include "arch/amx/socket/socket.hpp"

namespace tilesim::arch::amx::socket {

// Key paths ("amx.tiles.store_config"), after the run.
std::vector<std::string> not_exercised(const AmxConfig& config,
                                       const std::vector<program::Program>& programs,
                                       const Socket& socket);

}  // namespace tilesim::arch::amx::socket
