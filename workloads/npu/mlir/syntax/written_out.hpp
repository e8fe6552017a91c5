// What stands in place of an operation that a pass has written out.
#pragma once

#include <functional>
#include <optional>
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

// Those of a device's own operations for which this holds, which leave it.
std::vector<Operation> take_from_device(Block& device,
                                        const std::function<bool(const Operation&)>& holds);

// Puts the text that is said of an operation in its place, in all regions of the item, in order;
// one of which none is said stays, and those within it are asked for.
void write_within(Item& item,
                  const std::function<std::optional<std::string>(const Operation&)>& text_of);

}  // namespace tilesim::workloads::npu::mlir::syntax
