#include "arch/npu/core/tile_product.hpp"

#include <type_traits>

#include "arch/base/data_type.hpp"
#include "arch/npu/core/vector_lanes.hpp"

namespace tilesim::arch::npu::core {

namespace {

using Size = std::size_t;

#ifdef TILESIM_AVX2

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
    if (kHasAvx2) {
        add_product_avx2(a, stride, b, k, c);
        return;
    }
#endif
    add_product_plainly(a, stride, b, k, c);
}

#define TILESIM_TILE_PRODUCT(Packed, Out)                                                     \
    template void add_product(const Packed*, Size, const Packed*, Size, const TileOfC<Out>&); \
    template void add_product_plainly(const Packed*, Size, const Packed*, Size,               \
                                      const TileOfC<Out>&);
TILESIM_TILE_PRODUCT(std::int16_t, std::int16_t)
TILESIM_TILE_PRODUCT(std::int16_t, std::int32_t)
TILESIM_TILE_PRODUCT(float, std::uint16_t)
TILESIM_TILE_PRODUCT(float, float)
#undef TILESIM_TILE_PRODUCT
template void add_product_plainly(const std::int8_t*, Size, const std::int8_t*, Size,
                                  const TileOfC<std::int8_t>&);

}  // namespace tilesim::arch::npu::core
