// What kernels that work on vectors compute, on bytes as they lie in core memory and in DRAM.
//
// A row of a quantised matrix is its integers, the first of two int4 in the low bits, and then a
// bf16 scale factor for each `scale_block` of them; an integer times its factor, in f32, is the
// weight. Products are added in f32 in order of the row, one rounding each (no fused
// multiply-add), or modulo 2^32; what is there of C already is the first summand, and C is rounded
// to nearest even when stored. The element operations compute in f32 from and to the elements'
// types; what has a result in integers of integers is computed in these, modulo their width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

// Kernel kind Matvec: C (m) += A (m x k) times B (k).
void multiply_vector(const program::Kernel& kernel, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<std::byte> c);
// Kernel kind Vector; `b` is empty for operations without one.
void work_on_vectors(const program::Kernel& kernel, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<std::byte> c);

// Whether a kernel of kind Vector never leaves the integers: its result is exact.
bool stays_integer(const program::Kernel& kernel);
// What an integer type keeps of a value: its lowest bits.
std::int64_t kept_of(std::int64_t value, DataType type);

// `count` elements from the beginning of `bytes`.
std::vector<std::int64_t> as_integers(std::span<const std::byte> bytes, DataType type,
                                      std::int64_t count);
// `count` elements from the beginning of `bytes` in f32, and back.
std::vector<float> as_floats(std::span<const std::byte> bytes, DataType type, std::int64_t count);
void store_floats(std::span<const float> values, DataType type, std::span<std::byte> bytes);
// A row of a quantised matrix: integers times their scale factors.
std::vector<float> dequantised_row(const program::Kernel& kernel, std::span<const std::byte> row,
                                   std::int64_t count);

}  // namespace tilesim::arch::npu::core
