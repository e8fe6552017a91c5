// The budgets of a run as the kernel wants them.
#pragma once

#include "arch/systemc/run.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::sim::session {

arch::systemc::Limits limits_of(const workloads::RunOptions& run);

}  // namespace tilesim::sim::session
