// Static checks of a program against the device, before it runs.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// Everything wrong with the program, one sentence each; empty when it may run. Checks: tiles exist;
// buffers placed, in range and disjoint; lock ids and values; descriptor fields within their
// widths; dimensions and padding the tile has; the descriptors a channel may use; the memories and
// locks it reaches; chains that lead nowhere; channels; task repeats and initial queue depth; one
// circuit per receiver; scripts (core_checks.hpp). What the program does as a whole is looked at
// by path_checks.hpp, transfer_checks.hpp and marked_graph.hpp.
std::vector<std::string> verify(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
