// Loops of a processor over a memory: alone, or as an agent beside others.
#pragma once

#include "workloads/dataflow.hpp"
#include "workloads/problem.hpp"

namespace tilesim::workloads::memory::host_loop {

const ProblemKind& loop_kind();
const Dataflow& loop_dataflow();

}  // namespace tilesim::workloads::memory::host_loop
