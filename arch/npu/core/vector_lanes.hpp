// The hosts' vector instructions that products of tiles use, where the compiler knows them: what is
// marked TILESIM_AVX2 or TILESIM_VNNI runs only on a host that has them.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define TILESIM_AVX2 __attribute__((target("avx2")))
#define TILESIM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline
#include <immintrin.h>
#define TILESIM_VNNI __attribute__((target("avx512f,avx512vnni")))
#define TILESIM_VNNI_INLINE __attribute__((target("avx512f,avx512vnni"), always_inline)) inline

namespace tilesim::arch::npu::core {

inline const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
inline const bool kHasVnni =
    __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vnni") != 0;

TILESIM_AVX2_INLINE __m256i in_all_lanes(const void* bits32) {
    std::int32_t lane = 0;
    std::memcpy(&lane, bits32, sizeof lane);
    return _mm256_set1_epi32(lane);
}

}  // namespace tilesim::arch::npu::core

#endif
