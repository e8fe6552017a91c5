// Calls of functions on tiles, func.call @f(%a, %b) {aie.x = 1, aie.y = 2}, as the cores of these.
//
// Source:  mlir-aie's pass AIECreateCores.
#pragma once

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

bool is_placed_call(const Operation& operation);
// Buffers that the device allocates and hands over become the tile's. Throws ReadError where a
// function has no body that could be a core's.
void write_placed_calls_as_cores(Block& device);

}  // namespace tilesim::workloads::npu::mlir::syntax
