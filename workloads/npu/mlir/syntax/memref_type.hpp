// The type of a buffer: memref<64x32xi8>, with an optional layout and memory space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

struct MemrefType {
    std::int64_t elements = 1;
    std::int64_t element_bits = 32;
    bool sized = true;      // false: a dimension that only the host knows, counted once
    std::string element{};  // "bf16"; empty where nobody asks
    std::int64_t bytes() const { return (elements * element_bits + 7) / 8; }
};

// The width of i8, ui32, bf16, f32, index (32 on these cores); nothing for anything else.
std::optional<std::int64_t> bits_of_type(std::string_view name);

// Reads "memref<...>" where the cursor stands. Throws ReadError: unknown element type, a size that
// is not known, more than 2^40 elements.
MemrefType read_memref(Cursor& cursor);
// The same; a dimension may be "?", or the sizes left to the host: memref<*xi32>.
MemrefType read_argument_memref(Cursor& cursor);
// memref<8xi32>: as many elements of as many bits, of whatever type and shape.
std::string flat_memref(const MemrefType& type);
// Elements from one to the next in each dimension, outermost first, as a layout states them
// (strided<[256, 1], offset: 1024>) or as contiguous elements have them; empty where one is not
// known.
std::vector<std::int64_t> strides_of_memref(Cursor& cursor);

}  // namespace tilesim::workloads::npu::mlir::syntax
