// Device files of kind `amx`: cores, caches and mesh of a socket.
#pragma once

#include "workloads/machine.hpp"

namespace tilesim::workloads::amx {

const Machine& amx_machine();

}  // namespace tilesim::workloads::amx
