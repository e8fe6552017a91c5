// The lanes of switch ports, which a simulation's trace names as trace units do where nobody has
// chosen ports.
#pragma once

#include <span>

#include "sim/compare/trace_file.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::sim::compare {

// Gives PORT_RUNNING_n of the tiles whose ports the design chooses to the channel it has chosen.
void name_watched_ports(TraceFile& simulated,
                        std::span<const workloads::npu::program_file::TraceSlots> all);

}  // namespace tilesim::sim::compare
