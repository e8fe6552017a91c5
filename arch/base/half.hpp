// IEEE 754 half precision: f16 from and to f32. Not `_Float16`: clang 14, which builds the fuzzers,
// has it on x86 with AVX512-FP16 only.
#pragma once

#include <cstdint>

namespace tilesim::arch::base {

float from_f16(std::uint16_t bits);
// To the nearest, ties to the even one; what is too large becomes infinite.
std::uint16_t to_f16(float value);

}  // namespace tilesim::arch::base
