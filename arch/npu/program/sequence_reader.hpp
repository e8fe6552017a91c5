// The run-time sequence of a program's text.
#pragma once

#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// The list `sequence` of the program's map. `program` declares the locks and buffers it names.
std::vector<SequenceOp> read_sequence(base::config::Node& root, const Program& program);

}  // namespace tilesim::arch::npu::program
