// The budgets of a run as the kernel wants them.
#pragma once

#include "arch/base/kernel/kernel_module.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::system {

arch::base::kernel::Limits limits_of(const RunOptions& run);

}  // namespace tilesim::sim::system
