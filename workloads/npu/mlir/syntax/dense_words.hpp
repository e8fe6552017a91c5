// What a design states that a buffer holds at start, in 32-bit words: dense<[1, 2]>, dense<7>,
// dense<[[1.5, 2.0]]>, dense<"0x0100ff00">.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/npu/mlir/syntax/memref_type.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Of the items behind "dense": the first, in its brackets, little-endian as memories hold it; what
// does not fill the last word is 0. Nothing where elements are no whole bytes, where their form
// is not known here, or where they are not as many as the type has.
std::optional<std::vector<std::uint32_t>> dense_words(const Item& value, const MemrefType& type);

// The bracket behind the last "dense" of an operation or list; nullptr without one.
const Item* dense_value(const std::vector<Item>& items);

}  // namespace tilesim::workloads::npu::mlir::syntax
