// Routes between channels that the design programs itself (aie.route, aie.route_endpoint), whose
// numbers the compiler chooses.
//
// Models:  what aie-objectfifo-allocate makes of them: the lowest channel of the tile that nothing
//          else names; a flow for each destination, or a packet flow; allocations of the shim's
//          ends, by their name and by fifoName; numbers in place of the names in DMA programs and
//          tasks. A route with an end that fills or drains a pool of an object FIFO stays, for the
//          FIFO's own streams (object_fifo/fifo_endpoints.hpp); only its channels that are named
//          become numbers.
// Ignores: the descriptors that a memory tile's channel reaches; upstream prefers channels whose
//          half of them has room.
// Source:  docs/ObjectFifoLowering.md and the tests of aie-objectfifo-allocate in Xilinx/mlir-aie.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// In every device. Throws ReadError: an endpoint that is none, or is used in both directions.
void write_routes_as_flows(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
