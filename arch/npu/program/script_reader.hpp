// The script of a core in a program's text.
#pragma once

#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// The list `script` of the core's map. `program` declares the locks and kernels it names, `core`
// the rotations.
std::vector<CoreOp> read_script(base::config::Node& node, const Program& program,
                                const CoreProgram& core);

}  // namespace tilesim::arch::npu::program
