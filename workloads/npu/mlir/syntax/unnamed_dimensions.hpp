// Dimensions as designs of 2023 have them, two numbers without names.
#pragma once

#include <cstdint>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// [<2, 4>, <8, 1>]: <size, stride>, in 2023 for some months <stride, size>. The sizes are those
// whose product is the length.
void name_dimensions(Item& list, std::int64_t length);

}  // namespace tilesim::workloads::npu::mlir::syntax
