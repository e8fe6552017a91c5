// Static checks of what scripts do with binary locks and with kernels that read and write streams.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// What is wrong with the cores' scripts, one sentence each. Checks: states of binary locks; the
// streams that a kernel reads A and C from and writes C to; B's size.
std::vector<std::string> check_scripts(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
