// What the stream-fed micro-kernel computes.
//
// Layouts: A column by column ([k][m]), B row by row ([k][n]), C column by column ([n][m]).
// Products are added in the accumulators' 48 bits and stored modulo 2^bits (no shift, saturation
// off). C has 32 bits at most, so sums modulo 2^32 give the same bits.
#pragma once

#include <cstddef>
#include <span>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

// c += a * b.
void multiply_stream(const program::Kernel& kernel, std::span<const std::byte> a,
                     std::span<const std::byte> b, std::span<std::byte> c);

}  // namespace tilesim::arch::npu::core
