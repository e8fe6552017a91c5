// Device files of kind `pim`: units at the banks of a memory, and the system it serves.
#pragma once

#include "workloads/machine.hpp"

namespace tilesim::workloads::pim {

const Machine& pim_machine();

}  // namespace tilesim::workloads::pim
