// A program as YAML text a person can read.
#pragma once

#include <string>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

// A name as a YAML scalar: quoted where the plain text would be read as something else.
std::string scalar(const std::string& name);

std::string print(const Program& program);
// As a file that runs on the device of this name or path.
std::string print(const Program& program, const std::string& device);

}  // namespace tilesim::arch::npu::program
