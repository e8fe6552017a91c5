// Kernels of a program that take their time and compute nothing: whoever compares bytes must know.
#pragma once

#include <string>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

// The names of those that a core calls, in the program's order.
std::vector<std::string> uncomputed_kernels(const arch::npu::program::Program& program);

}  // namespace tilesim::workloads::npu
