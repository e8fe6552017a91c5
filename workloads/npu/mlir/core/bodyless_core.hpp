// Scripts for cores whose bodies are not in the file (an elf_file, or no aie.core at all), or which
// leave their locks to functions that are not: what their DMA's locks ask of them.
#pragma once

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

void add_bodyless_cores(Lowering& lowering);

}  // namespace tilesim::workloads::npu::mlir::core
