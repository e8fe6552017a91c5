// Object FIFOs over a cascade (transport = #aie.transport<cascade>, since the summer of 2026).
//
// Models:  what the compiler's split makes of one: a cascade flow; what the producer stores is put,
//          what the consumer loads is got. There are no elements, locks or channels.
// Source:  mlir-aie, AIEObjectFifoSplit and its tests cascade_test.mlir and
//          cascade_two_pairs_test.mlir.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// In every device. Throws ReadError where a FIFO asks for what a cascade does not have.
void write_cascade_fifos_as_cascades(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
