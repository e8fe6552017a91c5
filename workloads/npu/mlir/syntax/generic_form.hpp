// MLIR's generic form of an operation, "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index,
// as the items its own form would have.
//
// Source:  the operation definitions and enumerations of mlir-aie (AIEOps.td, AIEAttrs.td) and
// MLIR.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// What stands behind the name in the generic form.
struct GenericParts {
    std::vector<Item> operands{};    // values
    std::vector<Item> successors{};  // block labels
    std::vector<Item> properties{};  // of <{...}> and of {...}, with their commas
    std::vector<Item> regions{};
    std::vector<Item> types{};  // behind the ':'
};

// Cuts the items of a generic operation into its parts.
GenericParts generic_parts(std::vector<Item> items);
// The items of the operation's own form. Throws ReadError where a part that it needs is missing.
std::vector<Item> own_form(const Operation& operation, const GenericParts& parts);

}  // namespace tilesim::workloads::npu::mlir::syntax
