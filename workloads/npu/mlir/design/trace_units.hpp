// What trace units watch, where a design declares them: aie.trace, and the registers of an
// aie.trace.config, which the compiler makes of it.
//
// Source: the trace operations of Xilinx/mlir-aie (AIETraceOps, AIETraceToConfig); the numbers of
//         switch ports are those of its getStreamSwitchPortIndex.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

void read_trace_units(Lowering& lowering);
// Channels of shims that the sequence starts and no route reaches: of a design that traces, those
// take what its trace units send.
void find_traced_channels(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::design
