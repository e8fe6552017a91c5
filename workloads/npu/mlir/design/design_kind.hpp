// `design`: a lowered AIE-dialect file, run as the program it describes.
#pragma once

#include "workloads/problem.hpp"

namespace tilesim::workloads::npu::mlir::design {

const ProblemKind& design_kind();

}  // namespace tilesim::workloads::npu::mlir::design
