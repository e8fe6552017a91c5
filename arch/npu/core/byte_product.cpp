// Products of tiles of bytes: see tile_product.hpp.
#include <array>
#include <cstdint>
#include <cstring>

#include "arch/npu/core/tile_product.hpp"
#include "arch/npu/core/vector_lanes.hpp"

namespace tilesim::arch::npu::core {

using Size = std::size_t;

#ifdef TILESIM_AVX2

namespace {

// 128 in the lanes whose bits are odd in number.
TILESIM_AVX2_INLINE __m256i weight_of_odd(__m256i bits) {
    bits = _mm256_xor_si256(bits, _mm256_srli_epi32(bits, 16));
    bits = _mm256_xor_si256(bits, _mm256_srli_epi32(bits, 8));
    bits = _mm256_xor_si256(bits, _mm256_srli_epi32(bits, 4));
    const __m256i weights = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    return _mm256_shuffle_epi8(weights, _mm256_and_si256(bits, _mm256_set1_epi32(0xF)));
}

struct ByteRow {
    __m256i left, right;
};
TILESIM_AVX2_INLINE ByteRow columns_at(const void* b) {
    const auto* groups = static_cast<const __m256i*>(b);
    return {_mm256_loadu_si256(groups), _mm256_loadu_si256(groups + 1)};
}
TILESIM_AVX2_INLINE void add_bits(ByteRow& bits, const std::uint32_t* a, const ByteRow& b) {
    const __m256i word = in_all_lanes(a);
    bits.left = _mm256_xor_si256(bits.left, _mm256_and_si256(word, b.left));
    bits.right = _mm256_xor_si256(bits.right, _mm256_and_si256(word, b.right));
}
TILESIM_AVX2_INLINE void add_bytes(ByteRow& sums, const std::int8_t* a, const ByteRow& b) {
    const __m256i step = in_all_lanes(a);
    sums.left = _mm256_add_epi16(sums.left, _mm256_maddubs_epi16(step, b.left));
    sums.right = _mm256_add_epi16(sums.right, _mm256_maddubs_epi16(step, b.right));
}
TILESIM_AVX2_INLINE void weigh(ByteRow& bits) {
    bits.left = weight_of_odd(bits.left);
    bits.right = weight_of_odd(bits.right);
}
TILESIM_AVX2_INLINE void add_to(const std::array<std::int8_t*, 2>& c, __m128i left_and_right) {
    auto* const left = reinterpret_cast<__m128i*>(c[0]);
    auto* const right = reinterpret_cast<__m128i*>(c[1]);
    const __m128i old = _mm_unpacklo_epi64(_mm_loadl_epi64(left), _mm_loadl_epi64(right));
    const __m128i sums = _mm_add_epi8(old, left_and_right);
    _mm_storel_epi64(left, sums);
    _mm_storel_epi64(right, _mm_unpackhi_epi64(sums, sums));
}
// Two rows, whose sums stand in pairs of 16-bit numbers.
TILESIM_AVX2_INLINE void add_to(const std::array<std::int8_t*, 2>& c0, const ByteRow& sums0,
                                const std::array<std::int8_t*, 2>& c1, const ByteRow& sums1) {
    const __m256i low_byte = _mm256_set1_epi16(0xFF);
    const __m256i words0 = _mm256_hadd_epi16(sums0.left, sums0.right);
    const __m256i words1 = _mm256_hadd_epi16(sums1.left, sums1.right);
    const __m256i bytes =
        _mm256_packus_epi16(_mm256_and_si256(words0, low_byte), _mm256_and_si256(words1, low_byte));
    // Each half of `bytes` now has half of both groups of both rows, four bytes each.
    const __m256i rows =
        _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    add_to(c0, _mm256_castsi256_si128(rows));
    add_to(c1, _mm256_extracti128_si256(rows, 1));
}

TILESIM_AVX2 void add_byte_product_avx2(const ByteOperands& of, const TileOfC<std::int8_t>& c) {
    const __m256i zero = _mm256_setzero_si256();
    ByteRow row0{zero, zero};
    ByteRow row1 = row0;
    ByteRow row2 = row0;
    ByteRow row3 = row0;
    const std::uint32_t* odd = of.b_odd;
    for (const std::uint32_t *top = of.a_top, *end = top + of.words; top != end; ++top) {
        const ByteRow columns = columns_at(odd);
        add_bits(row0, top, columns);
        add_bits(row1, top + of.words, columns);
        add_bits(row2, top + 2 * of.words, columns);
        add_bits(row3, top + 3 * of.words, columns);
        odd += kTileColumns;
    }
    weigh(row0);
    weigh(row1);
    weigh(row2);
    weigh(row3);
    const std::int8_t* b = of.b;
    for (const std::int8_t *a = of.a, *end = a + of.k; a != end; a += kDepth<std::int8_t>) {
        const ByteRow columns = columns_at(b);
        add_bytes(row0, a, columns);
        add_bytes(row1, a + of.stride, columns);
        add_bytes(row2, a + 2 * of.stride, columns);
        add_bytes(row3, a + 3 * of.stride, columns);
        b += kTileColumns * kDepth<std::int8_t>;
    }
    add_to(c[0], row0, c[1], row1);
    add_to(c[2], row2, c[3], row3);
}

TILESIM_VNNI_INLINE void add_step(__m512i& row, const std::int8_t* a, __m512i columns) {
    std::int32_t step = 0;
    std::memcpy(&step, a, sizeof step);
    row = _mm512_dpbusd_epi32(row, _mm512_set1_epi32(step), columns);
}

// With a mask of all: without, the compiler's header starts from a value it never sets.
TILESIM_VNNI_INLINE __m128i low_bytes(__m512i row) {
    constexpr __mmask16 kAll = 0xFFFF;
    return _mm512_maskz_cvtepi32_epi8(kAll, row);
}

// Takes the bytes of A as unsigned: one that is negative counts 256 too much, as do its products,
// and C has no place for that.
TILESIM_VNNI void add_product_vnni(const std::int8_t* a, Size stride, const std::int8_t* b, Size k,
                                   const TileOfC<std::int8_t>& c) {
    __m512i row0 = _mm512_setzero_si512();
    __m512i row1 = row0;
    __m512i row2 = row0;
    __m512i row3 = row0;
    for (const std::int8_t* end = a + k; a != end; a += kDepth<std::int8_t>) {
        const __m512i columns = _mm512_loadu_si512(b);
        add_step(row0, a, columns);
        add_step(row1, a + stride, columns);
        add_step(row2, a + 2 * stride, columns);
        add_step(row3, a + 3 * stride, columns);
        b += kTileColumns * kDepth<std::int8_t>;
    }
    add_to(c[0], low_bytes(row0));
    add_to(c[1], low_bytes(row1));
    add_to(c[2], low_bytes(row2));
    add_to(c[3], low_bytes(row3));
}

// A row of two tiles.
struct LongRow {
    __m512i left, right;
};
TILESIM_VNNI_INLINE void add_step(LongRow& row, const std::int8_t* a, const LongRow& columns) {
    std::int32_t step = 0;
    std::memcpy(&step, a, sizeof step);
    const __m512i lanes = _mm512_set1_epi32(step);
    row.left = _mm512_dpbusd_epi32(row.left, lanes, columns.left);
    row.right = _mm512_dpbusd_epi32(row.right, lanes, columns.right);
}
TILESIM_VNNI_INLINE void add_to(const std::array<std::int8_t*, 2>& left,
                                const std::array<std::int8_t*, 2>& right, const LongRow& row) {
    add_to(left, low_bytes(row.left));
    add_to(right, low_bytes(row.right));
}

TILESIM_VNNI void add_products_vnni(const std::int8_t* a, Size stride, const std::int8_t* b,
                                    Size panel, Size k, const TileOfC<std::int8_t>& left,
                                    const TileOfC<std::int8_t>& right) {
    LongRow row0{_mm512_setzero_si512(), _mm512_setzero_si512()};
    LongRow row1 = row0;
    LongRow row2 = row0;
    LongRow row3 = row0;
    for (const std::int8_t* end = a + k; a != end; a += kDepth<std::int8_t>) {
        const LongRow columns{_mm512_loadu_si512(b), _mm512_loadu_si512(b + panel)};
        add_step(row0, a, columns);
        add_step(row1, a + stride, columns);
        add_step(row2, a + 2 * stride, columns);
        add_step(row3, a + 3 * stride, columns);
        b += kTileColumns * kDepth<std::int8_t>;
    }
    add_to(left[0], right[0], row0);
    add_to(left[1], right[1], row1);
    add_to(left[2], right[2], row2);
    add_to(left[3], right[3], row3);
}

}  // namespace

#endif

template <>
void add_product(const std::int8_t* a, Size stride, const std::int8_t* b, Size k,
                 const TileOfC<std::int8_t>& c) {
#ifdef TILESIM_AVX2
    if (kHasVnni) {
        add_product_vnni(a, stride, b, k, c);
        return;
    }
#endif
    add_product_plainly(a, stride, b, k, c);
}

void add_products(const std::int8_t* a, Size stride, const std::int8_t* b, Size panel, Size k,
                  const TileOfC<std::int8_t>& left, const TileOfC<std::int8_t>& right) {
#ifdef TILESIM_AVX2
    if (kHasVnni) {
        add_products_vnni(a, stride, b, panel, k, left, right);
        return;
    }
#endif
    add_product(a, stride, b, k, left);
    add_product(a, stride, b + panel, k, right);
}

bool splits_bytes() {
#ifdef TILESIM_AVX2
    return kHasAvx2 && !kHasVnni;
#else
    return false;
#endif
}

void add_product_plainly(const ByteOperands& of, const TileOfC<std::int8_t>& c) {
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size j = 0; j < kTileColumns; ++j) {
            std::int8_t& out = c[i][j / kTileGroup][j % kTileGroup];
            std::int32_t sum = out;
            for (Size e = 0; e < of.k; ++e) {
                const std::uint32_t word = of.a_top[i * of.words + e / kWordSteps];
                const std::int32_t top = word >> e % kWordSteps & 1;
                const Size depth = e % kDepth<std::int8_t>;
                sum += (of.a[i * of.stride + e] - 128 * top) *
                       of.b[(e - depth) * kTileColumns + j * kDepth<std::int8_t> + depth];
            }
            out = static_cast<std::int8_t>(sum);
        }
    }
}

void add_product(const ByteOperands& operands, const TileOfC<std::int8_t>& c) {
#ifdef TILESIM_AVX2
    if (kHasAvx2) {
        add_byte_product_avx2(operands, c);
        return;
    }
#endif
    add_product_plainly(operands, c);
}

}  // namespace tilesim::arch::npu::core
