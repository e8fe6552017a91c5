// A transfer as designs state it, in elements and outermost dimension first, and its conversion to
// a descriptor's fields, in 32-bit words and innermost first.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/npu/mlir/syntax/location.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::descriptors {

struct Transfer {
    MemrefType type;
    std::int64_t offset = 0;                     // elements
    std::int64_t length = 0;                     // elements, padding included
    std::vector<program::Dimension> dimensions;  // elements, outermost first; empty is linear
    std::vector<program::Padding> padding;       // elements, outermost first
};

// Elements of this type as 32-bit words. Throws ReadError where they are no whole number.
std::int64_t words_of(std::int64_t elements, const MemrefType& type, Location where);

// Elements of so many bits before a view into a buffer. Throws ReadError where they are no whole
// number.
std::int64_t elements_before(const Value& view, std::int64_t element_bits, Location where);

// Fills in offset, length, dimensions and padding. Throws ReadError: part of a word, single
// elements narrower than a word that are not contiguous.
void set_transfer(program::BufferDescriptor& descriptor, const Transfer& transfer, Location where);

// Makes two dimensions of one that takes more steps than its field counts, where one is left, as
// the compiler does. What still does not fit stays, for the verifier to name.
void factor_dimensions(program::BufferDescriptor& descriptor, const arch::npu::DmaConfig& dma);

}  // namespace tilesim::workloads::npu::mlir::descriptors
