// Sequences that load one configuration after the other: aiex.configure, npu.load_pdi. Each becomes
// a program of its own behind the first.
//
// Source:  mlir-aie's passes AIEMaterializeRuntimeSequences and AIEExpandLoadPdi.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::design {

// Whether a device's sequence loads configurations: other devices of the file, or its own again.
bool loads_configurations(const Operation& sequence);
// The sequence part by part, each on the device it configures. `source`: the whole file.
void lower_configurations(Lowering& lowering, const Operation& sequence, const Source& source);

}  // namespace tilesim::workloads::npu::mlir::design
