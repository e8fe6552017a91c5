#include "arch/npu/tile_product.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define TILESIM_AVX2 __attribute__((target("avx2")))
#include <immintrin.h>

#include <cstring>
#endif

namespace tilesim::arch::npu {

namespace {

using Size = std::size_t;

#ifdef TILESIM_AVX2

const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;

constexpr Size kLanes = 8;
constexpr Size kVectors = kTileColumns / kLanes;  // of a row of c

TILESIM_AVX2 void add_product_avx2(const std::int16_t* a, Size stride, const std::int16_t* b,
                                   Size k, std::int32_t* c) {
    __m256i sums[kTileRows][kVectors];
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size v = 0; v < kVectors; ++v) {
            sums[i][v] = _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(c + i * kTileColumns + v * kLanes));
        }
    }
    for (Size e = 0; e < k; e += 2) {
        __m256i columns[kVectors];
        for (Size v = 0; v < kVectors; ++v) {
            columns[v] = _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(b + e * kTileColumns + 2 * v * kLanes));
        }
        for (Size i = 0; i < kTileRows; ++i) {
            std::int32_t pair = 0;
            std::memcpy(&pair, a + i * stride + e, sizeof pair);
            const __m256i row = _mm256_set1_epi32(pair);
            for (Size v = 0; v < kVectors; ++v) {
                sums[i][v] = _mm256_add_epi32(sums[i][v], _mm256_madd_epi16(row, columns[v]));
            }
        }
    }
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size v = 0; v < kVectors; ++v) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(c + i * kTileColumns + v * kLanes),
                                sums[i][v]);
        }
    }
}

TILESIM_AVX2 void add_product_avx2(const float* a, Size stride, const float* b, Size k, float* c) {
    __m256 sums[kTileRows][kVectors];
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size v = 0; v < kVectors; ++v) {
            sums[i][v] = _mm256_loadu_ps(c + i * kTileColumns + v * kLanes);
        }
    }
    for (Size e = 0; e < k; ++e) {
        for (Size i = 0; i < kTileRows; ++i) {
            const __m256 row = _mm256_set1_ps(a[i * stride + e]);
            for (Size v = 0; v < kVectors; ++v) {
                const __m256 columns = _mm256_loadu_ps(b + e * kTileColumns + v * kLanes);
                sums[i][v] = _mm256_add_ps(sums[i][v], _mm256_mul_ps(row, columns));
            }
        }
    }
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size v = 0; v < kVectors; ++v) {
            _mm256_storeu_ps(c + i * kTileColumns + v * kLanes, sums[i][v]);
        }
    }
}

#endif

template <class Packed, class Sum>
void add_product_here(const Packed* a, Size stride, const Packed* b, Size k, Sum* c) {
#ifdef TILESIM_AVX2
    if (kHasAvx2) {
        add_product_avx2(a, stride, b, k, c);
        return;
    }
#endif
    add_product_plainly(a, stride, b, k, c);
}

}  // namespace

void add_product(const std::int16_t* a, Size stride, const std::int16_t* b, Size k,
                 std::int32_t* c) {
    add_product_here(a, stride, b, k, c);
}

void add_product(const float* a, Size stride, const float* b, Size k, float* c) {
    add_product_here(a, stride, b, k, c);
}

void add_product_plainly(const std::int16_t* a, Size stride, const std::int16_t* b, Size k,
                         std::int32_t* c) {
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size e = 0; e < k; e += 2) {
            const std::int32_t x = a[i * stride + e];
            const std::int32_t y = a[i * stride + e + 1];
            const std::int16_t* pairs = b + e * kTileColumns;
            std::int32_t* sums = c + i * kTileColumns;
            for (Size j = 0; j < kTileColumns; ++j) {
                sums[j] =
                    static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[j]) +
                                              static_cast<std::uint32_t>(x * pairs[2 * j]) +
                                              static_cast<std::uint32_t>(y * pairs[2 * j + 1]));
            }
        }
    }
}

void add_product_plainly(const float* a, Size stride, const float* b, Size k, float* c) {
    for (Size i = 0; i < kTileRows; ++i) {
        for (Size e = 0; e < k; ++e) {
            for (Size j = 0; j < kTileColumns; ++j) {
                c[i * kTileColumns + j] += a[i * stride + e] * b[e * kTileColumns + j];
            }
        }
    }
}

}  // namespace tilesim::arch::npu
