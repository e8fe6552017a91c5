// Static checks of a program against the device, before it runs.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program.hpp"

namespace tilesim::arch::npu {

// Everything wrong with the program, one sentence each; empty when it may run. Checks: tiles exist;
// buffers in range and disjoint; lock ids and values; descriptor ids, lengths, steps and wraps
// within their fields; dimensions and padding the tile has; the descriptors a channel may use;
// chains that lead nowhere; channels; task repeats and initial queue depth; one circuit per
// receiver.
std::vector<std::string> verify(const Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu
