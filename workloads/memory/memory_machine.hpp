// Device files of kind `memory`: a DRAM and its controllers alone.
#pragma once

#include "workloads/machine.hpp"

namespace tilesim::workloads::memory {

const Machine& memory_machine();

}  // namespace tilesim::workloads::memory
