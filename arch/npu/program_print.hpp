// A program as YAML text a person can read.
#pragma once

#include <string>

#include "arch/npu/program.hpp"

namespace tilesim::arch::npu {

std::string print(const Program& program);

}  // namespace tilesim::arch::npu
