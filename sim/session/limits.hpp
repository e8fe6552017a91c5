// The budgets of a run as the kernel wants them.
#pragma once

#include "arch/systemc/kernel_module.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

arch::systemc::Limits limits_of(const RunOptions& run);

}  // namespace tilesim::sim::system
