// Functions registered to object FIFOs (aie.objectfifo.register_process): the cores that call them.
//
// Models:  mlir-aie's pass aie-register-objectFifos. A pattern of acquires and one of releases are
//          walked together; equal neighbours are one loop; the function is called, without
//          arguments, where something is acquired. Processes that consume take the FIFO's consumers
//          in their order. A tile without a core gets one; in a core that is there the process
//          stands at the beginning of the last block, so that of several the last comes first.
// Source:  AIEObjectFifoRegisterProcess.cpp of Xilinx/mlir-aie.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Puts the bodies in the place of the registrations, in every device. Throws ReadError: no such
// FIFO or function, patterns that do not fit each other, more consumers than the FIFO has.
void write_registered_processes(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
