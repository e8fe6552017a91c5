// Device files of kind `npu`: array, fabric, host processor.
#pragma once

#include "workloads/machine.hpp"
#include "workloads/npu/memory_path.hpp"

namespace tilesim::workloads::npu {

const Machine& npu_machine();
MemoryPath path_of(const Device& device);
// The device's cores multiply what a stream feeds them (gotoblas), not tiles in their memory.
bool stream_fed(const Device& device);
// An array whose cores multiply tiles in their memory.
bool tile_fed(const Device& device);

}  // namespace tilesim::workloads::npu
