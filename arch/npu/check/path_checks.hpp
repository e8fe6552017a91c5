// Static checks of the routes' ways through the switches, routed or pinned port by port.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// What is wrong with the paths, one sentence each. Checks: ports the switch has and ways it can
// connect; every hop is fed by the source or another hop, every destination is reached and no hop
// leads nowhere; a master port serves one circuit, or packets of different ids; packets fit the
// rule slots of their slave ports and the arbiters of the switch; orders that an arbiter
// can keep. Routes without a path are left
// to the router.
std::vector<std::string> check_paths(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
