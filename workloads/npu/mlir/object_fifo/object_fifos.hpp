// Object FIFOs of a design: from what they state to buffers, locks, channels and streams.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

// Reads aie.objectfifo, links and allocations; makes buffers and locks.
void read_object_fifos(Lowering& lowering);
// Elements that a memory tile has no room for go to the memory tile west or east of it, the largest
// pools first.
void spill_pools(Lowering& lowering);
// Descriptors, channels and streams; after the DMA regions that are written out.
void connect_object_fifos(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::object_fifo
