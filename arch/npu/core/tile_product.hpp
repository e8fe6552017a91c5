// The innermost product of the core kernels' arithmetic: a few rows by columns of C held in
// registers.
//
// Models:  integers modulo 2^32, stored modulo 2^bits; f32 products added in order of k, one
//          rounding each (no fused multiply-add), stored as they are or rounded to bf16. The vector
//          code and the plain code give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tilesim::arch::npu::core {

inline constexpr std::size_t kTileRows = 4;
inline constexpr std::size_t kTileColumns = 16;
// Elements of a row of C that lie side by side in memory.
inline constexpr std::size_t kTileGroup = 8;

// Elements of k that lie side by side in packed B: what one multiply-add takes in 32 bits.
template <class Packed>
inline constexpr std::size_t kDepth = 1;
template <>
inline constexpr std::size_t kDepth<std::int16_t> = 2;
template <>
inline constexpr std::size_t kDepth<std::int8_t> = 4;

// Where the tile's groups lie.
template <class Out>
using TileOfC = std::array<std::array<Out*, kTileColumns / kTileGroup>, kTileRows>;

// c += a x b. a: kTileRows rows of k elements, `stride` apart; b: [k/kDepth][kTileColumns][kDepth].
// k is a multiple of kDepth. Packed is int16_t with Out int16_t or int32_t, int8_t with Out int8_t,
// or float with Out uint16_t (bf16) or float.
template <class Packed, class Out>
void add_product(const Packed* a, std::size_t stride, const Packed* b, std::size_t k,
                 const TileOfC<Out>& c);

template <>
void add_product(const std::int8_t* a, std::size_t stride, const std::int8_t* b, std::size_t k,
                 const TileOfC<std::int8_t>& c);

// The same for two tiles side by side, whose panels of B are `panel` elements apart: hosts spread a
// step of A over their lanes once for both.
void add_products(const std::int8_t* a, std::size_t stride, const std::int8_t* b, std::size_t panel,
                  std::size_t k, const TileOfC<std::int8_t>& left,
                  const TileOfC<std::int8_t>& right);

// The same without vector instructions, for any host.
template <class Packed, class Out>
void add_product_plainly(const Packed* a, std::size_t stride, const Packed* b, std::size_t k,
                         const TileOfC<Out>& c);

// Whether bytes are multiplied faster with the top bits of A apart, as below: on hosts with AVX2
// but no instruction that adds products of bytes without saturating (AVX-512 VNNI).
bool splits_bytes();

// Signed bytes modulo 2^8, of which one instruction multiplies twice as many as of 16-bit integers.
// It adds products in pairs and saturates, which cannot happen without the top bits of A. Those
// weigh -128, which modulo 2^8 counts where an odd B meets it, and only if an odd number of them
// do: a parity of single bits, 32 steps of k a word.
inline constexpr std::size_t kWordSteps = 32;
struct ByteOperands {
    const std::int8_t* a = nullptr;        // kTileRows rows of k bytes without their top bits
    std::size_t stride = 0;                // from row to row
    const std::int8_t* b = nullptr;        // [k/kDepth][kTileColumns][kDepth]
    std::size_t k = 0;                     // a multiple of kDepth
    const std::uint32_t* a_top = nullptr;  // the rows' top bits, `words` a row
    const std::uint32_t* b_odd = nullptr;  // [words][kTileColumns], the columns' lowest bits
    std::size_t words = 0;                 // k / kWordSteps, rounded up
};
void add_product(const ByteOperands& operands, const TileOfC<std::int8_t>& c);
void add_product_plainly(const ByteOperands& operands, const TileOfC<std::int8_t>& c);

}  // namespace tilesim::arch::npu::core
