// What the core kernels compute, on the sub-tiled layouts they find in core memory.
//
// Layouts (element order): A [m/r][k/s][r][s]; B column-major [n/t][k/s][t][s], row-major
// [k/s][n/t][s][t]; C row-major [m/r][n/t][r][t], column-major [n/t][m/r][t][r].
// Integers: products accumulate in 32 bits and are stored modulo 2^bits (saturation off, no shift).
// bf16: C is widened to f32, products are added in order of k, one rounding each (no fused
// multiply-add), and C is rounded to nearest even when stored at the end of the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

void multiply(const program::Kernel& kernel, const MultiplyMode& mode, std::span<const std::byte> a,
              std::span<const std::byte> b, std::span<std::byte> c);
void zero(std::span<std::byte> c);
// C = A + B and C = A + value for the kernel's m x n elements of its type `c`, in order of memory;
// integers modulo 2^bits.
void add(const program::Kernel& kernel, std::span<const std::byte> a, std::span<const std::byte> b,
         std::span<std::byte> c);
void add_value(const program::Kernel& kernel, std::span<const std::byte> a, std::span<std::byte> c);

using base::from_bf16;
using base::to_bf16;

}  // namespace tilesim::arch::npu::core
