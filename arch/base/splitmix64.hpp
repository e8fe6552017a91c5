// Random data from a seed: the same on every machine.
//
// Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
#pragma once

#include <cstdint>

namespace tilesim::arch::base {

// 2^64 over the golden ratio, the odd number next to it.
inline constexpr std::uint64_t kSplitmixStep = 0x9E3779B97F4A7C15ULL;

// The generator's hash of its state.
constexpr std::uint64_t splitmix64_hash(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

// Number `index` of the sequence of seed 0.
constexpr std::uint64_t splitmix64(std::uint64_t index) {
    return splitmix64_hash((index + 1) * kSplitmixStep);
}

// The next number of a sequence; `state` is the seed at first.
constexpr std::uint64_t next_splitmix64(std::uint64_t& state) {
    state += kSplitmixStep;
    return splitmix64_hash(state);
}

}  // namespace tilesim::arch::base
