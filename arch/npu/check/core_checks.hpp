// Static checks of the cores: scripts, kernels, operands, cascades.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// What is wrong with the cores, one sentence each. Checks: one script a core; kernels the device
// has; operands in number, size and reach; locks in reach and values in range; loop parameters
// that somebody writes and that are not read at once; cascades between neighbours, one in and one
// out a core, and as many words put as got where both are known.
std::vector<std::string> check_cores(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
