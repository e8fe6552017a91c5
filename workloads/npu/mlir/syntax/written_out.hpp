// What stands in place of an operation that a pass has written out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// The operations of a text, spoken of in errors as if they stood at this place.
std::vector<Operation> parse_at(const std::string& text, Location where);

// Does this to the body of every device, and of every module after those of its devices: a text may
// state one without the other.
void in_every_device(std::vector<Operation>& operations, const std::function<void(Block&)>& pass);

// Adds operations to a device's, before its end.
void add_to_device(Block& device, std::vector<Operation> operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
