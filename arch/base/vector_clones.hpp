// A function marked TILESIM_VECTOR_CLONES has everything inlined into it and a copy for hosts with
// wide vectors, chosen when the program starts; both do the same arithmetic.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TILESIM_VECTOR_CLONES __attribute__((target_clones("avx2", "default"), flatten))
#else
#define TILESIM_VECTOR_CLONES
#endif
