// Static checks of what a program lays out: buffers, external buffers, locks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// What is wrong with them, one sentence each. Checks: buffers inside their tile's memory and apart
// from each other; locks their tile has, once each, with a value that they hold.
std::vector<std::string> check_storage(const program::Program& program, const NpuConfig& config);

// A binary lock is acquired and released in state 0 or 1. `who` does.
void require_state(ProblemList& problems, const program::Program& program, const NpuConfig& config,
                   const std::string& who, const std::optional<program::LockAction>& action);

}  // namespace tilesim::arch::npu::check
