// Streams: aie.flow and aie.packet_flow, left to the router, or the switchboxes' own settings,
// followed port by port from every sending DMA channel and every core that puts words.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::routes {

// `routed`: the device whose switchboxes say the routes; usually the same one.
void lower_routes(Lowering& lowering, const Operation& routed);

}  // namespace tilesim::workloads::npu::mlir::routes
