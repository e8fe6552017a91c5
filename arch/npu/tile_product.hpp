// The innermost product of the core kernels' arithmetic: a few rows by columns of C held in
// registers.
//
// Models:  integers modulo 2^32; f32 products added in order of k, one rounding each (no fused
//          multiply-add). The vector code and the plain code give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilesim::arch::npu {

inline constexpr std::size_t kTileRows = 4;
inline constexpr std::size_t kTileColumns = 16;

// Elements of k that lie side by side in packed B: pairs are one multiply-add of 16-bit integers.
template <class Packed>
inline constexpr std::size_t kDepth = 1;
template <>
inline constexpr std::size_t kDepth<std::int16_t> = 2;

// c += a x b. a: kTileRows rows of k elements, `stride` apart; b: [k/kDepth][kTileColumns][kDepth];
// c: kTileRows x kTileColumns. k is a multiple of kDepth.
void add_product(const std::int16_t* a, std::size_t stride, const std::int16_t* b, std::size_t k,
                 std::int32_t* c);
void add_product(const float* a, std::size_t stride, const float* b, std::size_t k, float* c);

// The same without vector instructions, for any host.
void add_product_plainly(const std::int16_t* a, std::size_t stride, const std::int16_t* b,
                         std::size_t k, std::int32_t* c);
void add_product_plainly(const float* a, std::size_t stride, const float* b, std::size_t k,
                         float* c);

}  // namespace tilesim::arch::npu
