// A program as YAML text a person can read.
#pragma once

#include <string>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

std::string print(const Program& program);

}  // namespace tilesim::arch::npu::program
