// Tokens of the array (aiex.token) as the locks they become, once what uses them are cores
// (placed_calls.hpp) and DMA programs (tile_copies.hpp).
//
// Models:  a token's value that one release sets and another's acquire waits for is a lock of its
//          own; who releases waits until what it released before has been taken.
// Source:  mlir-aie's pass AIECreateLocks.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Throws ReadError where a token, a copy or a call is incomplete.
void write_tokens_as_locks(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
