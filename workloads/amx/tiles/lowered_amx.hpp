// A product as AMX cores run it: a program for each, and where its operands lie.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::workloads::amx::tiles {

inline constexpr std::int64_t kPage = 4096;  // bytes

// Bytes a thread reads or writes.
struct AmxRegion {
    std::int64_t thread = 0;
    std::int64_t address = 0;
    std::int64_t bytes = 0;
};

struct LoweredAmx {
    std::vector<arch::amx::program::Program> programs;  // one a thread
    // Padded sizes: whole tiles.
    std::int64_t m = 0, k = 0, n = 0;
    std::int64_t k_tile = 64;  // elements
    // Addresses; `raw`: B as stored, where it is re-laid at run time, or its non-zero bytes.
    std::int64_t a = 0, b = 0, c = 0, raw = 0, masks = 0, scale = 0, bias = 0;
    std::int64_t nibbles = 0;                                   // the mask of int4 weights
    std::int64_t a_row = 0, b_row = 0, c_row = 0, raw_row = 0;  // bytes
    std::int64_t a_part = 0, b_part = 0;                        // between the parts of f32 operands
    std::int64_t c_group = 0;  // bytes between a convolution's output rows
    std::int64_t c_copy = 0;   // between the threads' copies of C; 0: one C
    // Sparse B: which bytes of each line are there (bit i: byte i), and where those lie.
    std::vector<std::uint64_t> line_masks;
    arch::amx::program::AddressTable lines;
    std::vector<AmxRegion> warm;   // what is in the caches at the start
    std::vector<AmxRegion> reads;  // operands of each thread
    double padding_waste = 0;      // share of multiply-accumulates
};

}  // namespace tilesim::workloads::amx::tiles
