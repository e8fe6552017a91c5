// Which tile a core is of, and where its body is: in its own file, or, where cores are in ELF
// files, in the one beside it; and what its functions are given and return.
#pragma once

#include <string>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

program::TileCoordinate tile_of(const Lowering& lowering, const Operation& core);

// Whether the core does anything in its own file, were it for no time.
bool has_body(const Operation& core);

// The same core in the file with the bodies; nullptr where there is none.
const Operation* body_elsewhere(const Lowering& lowering, const Operation& core);

// The names of a function's arguments, in their order.
std::vector<std::string> arguments_of(const Operation& function);

// Names what a function returns on every way and the reader knows, as the result of its call.
void name_returned(const Operation& call, const Operation& function, const Scope& inner,
                   Scope& scope);

}  // namespace tilesim::workloads::npu::mlir::core
