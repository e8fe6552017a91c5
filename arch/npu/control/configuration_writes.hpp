// Register writes that set an array up for a program: what a run-time sequence does that loads its
// configuration itself, where no firmware does.
//
// Models:  the locks, descriptors, channels, stream switches, cascades and cores of a program, in
//          the writes that mlir-aie makes of them (AIERT.cpp; its pass AIEExpandLoadPdi puts them
//          into the sequence). A block of words, a descriptor or a core's program, is one.
// Ignores: what the further words of a block take, and the reset before them: neither is published.
#pragma once

#include <cstdint>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::control {

// `program`: its routes have their paths.
std::int64_t configuration_writes(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::control
