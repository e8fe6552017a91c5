// `mapping.amx`: matrix products and convolutions on AMX cores; and instructions as they are.
#pragma once

#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/amx_problem_kinds.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

const Dataflow& amx_dataflow();
const Dataflow& amx_program_dataflow();

}  // namespace tilesim::workloads::amx::tiles
