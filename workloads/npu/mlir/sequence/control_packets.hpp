// Control packets whose words the host puts into a buffer: what they write is known only where the
// host's words are given.
//
// Models:  each packet's register writes, at the place in the sequence where its transfer starts;
//          tiles by the packet flows to their control ports, or by the controller ids of the
//          compiler's column overlay.
// Ignores: the transfers themselves and their way through the switches, the words that reading
//          packets answer with: those transfers and the waits for them are left out.
// Source:  mlir-aie, lib/Targets/AIETargetNPU.cpp (the header) and
//          AIEGenerateColumnControlOverlay.cpp (the ids).
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

// Said of every control packet, whoever has its words.
inline constexpr const char* kControlPacketsAct =
    "control packets act as register writes of the command processor; their way through the "
    "switches is left out";

// Replaces the sequence's transfers to control ports by what their words write. Throws ReadError
// where the words are not given.
void apply_control_packets(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::sequence
