// Names that two regions of a device both give: locks and buffers declared inside DMA regions,
// where each region counts its values anew.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Gives every such declaration but the first a name of its own, within its region.
void separate_inner_names(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
