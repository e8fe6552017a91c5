#include "arch/npu/core/tile_product.hpp"

#include <cstring>
#include <type_traits>

#include "arch/base/data_type.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define TILESIM_AVX2 __attribute__((target("avx2")))
#define TILESIM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline
#include <immintrin.h>
#endif

namespace tilesim::arch::npu::core {

namespace {

using Size = std::size_t;

#ifdef TILESIM_AVX2

#define TILESIM_VNNI __attribute__((target("avx512f,avx512vnni")))
#define TILESIM_VNNI_INLINE __attribute__((target("avx512f,avx512vnni"), always_inline)) inline

const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
const bool kHasVnni =
    __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vnni") != 0;

// A group of C as sums, and sums as a group of C.
TILESIM_AVX2_INLINE __m256i load(const std::int16_t* from) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
TILESIM_AVX2_INLINE __m256i load(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
TILESIM_AVX2_INLINE __m256 load(const std::uint16_t* from) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
TILESIM_AVX2_INLINE __m256 load(const float* from) {
    return _mm256_loadu_ps(from);
}
// Of the low halves of the lanes.
TILESIM_AVX2_INLINE __m128i low_halves(__m256i lanes) {
    const __m256i words = _mm256_packus_epi32(_mm256_and_si256(lanes, _mm256_set1_epi32(0xFFFF)),
                                              _mm256_setzero_si256());
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(words, 0x08));
}
TILESIM_AVX2_INLINE void store(__m256i sums, std::int16_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low_halves(sums));
}
TILESIM_AVX2_INLINE void store(__m256i sums, std::int32_t* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
}
TILESIM_AVX2_INLINE void store(__m256 sums, std::uint16_t* to) {  // as to_bf16()
    const __m256i bits = _mm256_castps_si256(sums);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low_halves(_mm256_srli_epi32(rounded, 16)));
}
TILESIM_AVX2_INLINE void store(__m256 sums, float* to) {
    _mm256_storeu_ps(to, sums);
}

TILESIM_AVX2_INLINE __m256i in_all_lanes(const void* bits32) {
    std::int32_t lane = 0;
    std::memcpy(&lane, bits32, sizeof lane);
    return _mm256_set1_epi32(lane);
}

// Step `e` of a row of A in all lanes; a group of columns of B.
TILESIM_AVX2_INLINE __m256i step_of(const std::int16_t* a) {
    return in_all_lanes(a);
}
TILESIM_AVX2_INLINE __m256 step_of(const float* a) {
    return _mm256_broadcast_ss(a);
}
TILESIM_AVX2_INLINE __m256i columns_of(const std::int16_t* b) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
}
TILESIM_AVX2_INLINE __m256 columns_of(const float* b) {
    return _mm256_loadu_ps(b);
}
TILESIM_AVX2_INLINE __m256i plus_product(__m256i sums, __m256i a, __m256i b) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}
TILESIM_AVX2_INLINE __m256 plus_product(__m256 sums, __m256 a, __m256 b) {
    return _mm256_add_ps(sums, _mm256_mul_ps(a, b));
}

// A row of the tile. Not an array, which g++ would keep in memory.
template <class Packed>
struct Row {
    decltype(step_of(static_cast<const Packed*>(nullptr))) left, right;
};
template <class Packed, class Out>
TILESIM_AVX2_INLINE Row<Packed> load_row(const std::array<Out*, 2>& c) {
    return {load(c[0]), load(c[1])};
}
template <class Packed, class Out>
TILESIM_AVX2_INLINE void store_row(const Row<Packed>& sums, const std::array<Out*, 2>& c) {
    store(sums.left, c[0]);
    store(sums.right, c[1]);
}
template <class Packed>
TILESIM_AVX2_INLINE void add_step(Row<Packed>& sums, const Packed* a, const Row<Packed>& b) {
    const auto step = step_of(a);
    sums.left = plus_product(sums.left, step, b.left);
    sums.right = plus_product(sums.right, step, b.right);
}

template <class Packed, class Out>
TILESIM_AVX2 void add_product_avx2(const Packed* a, Size stride, const Packed* b, Size k,
                                   const TileOfC<Out>& c) {
    Row<Packed> row0 = load_row<Packed>(c[0]);
    Row<Packed> row1 = load_row<Packed>(c[1]);
    Row<Packed> row2 = load_row<Packed>(c[2]);
    Row<Packed> row3 = load_row<Packed>(c[3]);
    for (const Packed* end = a + k; a != end; a += kDepth<Packed>) {
        const Row<Packed> columns{columns_of(b), columns_of(b + kTileGroup * kDepth<Packed>)};
        add_step(row0, a, columns);
        add_step(row1, a + stride, columns);
        add_step(row2, a + 2 * stride, columns);
        add_step(row3, a + 3 * stride, columns);
        b += kTileColumns * kDepth<Packed>;
    }
    store_row(row0, c[0]);
    store_row(row1, c[1]);
    store_row(row2, c[2]);
    store_row(row3, c[3]);
}

// 128 in the lanes whose bits are odd in number.
TILESIM_AVX2_INLINE __m256i weight_of_odd(__m256i bits) {
    bits = _mm256_xor_si256(bits, _mm256_srli_epi32(bits, 16));
    bits = _mm256_xor_si256(bits, _mm256_srli_epi32(bits, 8));
    bits = _mm256_xor_si256(bits, _mm256_srli_epi32(bits, 4));
    const __m256i weights = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    return _mm256_shuffle_epi8(weights, _mm256_and_si256(bits, _mm256_set1_epi32(0xF)));
}

using ByteRow = Row<std::int16_t>;
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

#endif

std::uint32_t product(std::int16_t a, std::int16_t b) {
    return static_cast<std::uint32_t>(std::int32_t{a} * std::int32_t{b});
}
std::uint32_t product(std::int8_t a, std::int8_t b) {
    return product(std::int16_t{a}, std::int16_t{b});
}
float product(float a, float b) {
    return a * b;
}

}  // namespace

template <class Packed, class Out>
void add_product_plainly(const Packed* a, Size stride, const Packed* b, Size k,
                         const TileOfC<Out>& c) {
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size j = 0; j < kTileColumns; ++j) {
            Out& out = c[i][j / kTileGroup][j % kTileGroup];
            decltype(product(*a, *b)) sum{};
            if constexpr (std::is_same_v<Out, std::uint16_t>) {
                sum = base::from_bf16(out);
            } else {
                sum = static_cast<decltype(sum)>(out);
            }
            for (Size e = 0; e < k; ++e) {
                const Size depth = e % kDepth<Packed>;
                sum += product(a[i * stride + e],
                               b[(e - depth) * kTileColumns + j * kDepth<Packed> + depth]);
            }
            if constexpr (std::is_same_v<Out, std::uint16_t>) {
                out = base::to_bf16(sum);
            } else {
                out = static_cast<Out>(sum);
            }
        }
    }
}

template <class Packed, class Out>
void add_product(const Packed* a, Size stride, const Packed* b, Size k, const TileOfC<Out>& c) {
#ifdef TILESIM_AVX2
    if constexpr (std::is_same_v<Packed, std::int8_t>) {
        if (kHasVnni) {
            add_product_vnni(a, stride, b, k, c);
            return;
        }
    } else if (kHasAvx2) {
        add_product_avx2(a, stride, b, k, c);
        return;
    }
#endif
    add_product_plainly(a, stride, b, k, c);
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

#define TILESIM_TILE_PRODUCT(Packed, Out)                                                     \
    template void add_product(const Packed*, Size, const Packed*, Size, const TileOfC<Out>&); \
    template void add_product_plainly(const Packed*, Size, const Packed*, Size,               \
                                      const TileOfC<Out>&);
TILESIM_TILE_PRODUCT(std::int8_t, std::int8_t)
TILESIM_TILE_PRODUCT(std::int16_t, std::int16_t)
TILESIM_TILE_PRODUCT(std::int16_t, std::int32_t)
TILESIM_TILE_PRODUCT(float, std::uint16_t)
TILESIM_TILE_PRODUCT(float, float)
#undef TILESIM_TILE_PRODUCT

}  // namespace tilesim::arch::npu::core
