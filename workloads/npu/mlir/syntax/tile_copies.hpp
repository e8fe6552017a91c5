// Copies between tiles, aiex.memcpy, as their DMA programs and streams.
//
// Source:  mlir-aie's pass AIELowerMemcpy. Unlike that, each copy has a channel of its own at both
//          ends.
#pragma once

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

bool is_copy(const Operation& operation);
// Both ends use the copy's token. Throws ReadError where a tile has a DMA of its own beside it.
void write_copies_as_transfers(Block& device);

}  // namespace tilesim::workloads::npu::mlir::syntax
