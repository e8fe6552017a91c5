// AVX-512 code that brings B into the tile layout at run time: from rows as stored, or from
// compressed weights: sparse bytes, int8 for products of bf16, int4 for those of int8.
#pragma once

#include <cstdint>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::workloads::amx::tiles {

inline constexpr std::int64_t kMaskBytes = 8;  // a row of a sparse tile: a bit an element
// A tile of bf16 as int8: line by line. One of int8 as int4: the high halves of its n-th 64 bytes
// are line 2n, the low ones line 2n + 1.
inline constexpr std::int64_t kNarrowTileBytes = 512;
// Weights of int4 enter the product as the high halves of bytes: 16 times what they are.
inline constexpr float kNibbleScale = 16;
inline constexpr std::uint32_t kNibbleMask = 0xF0F0F0F0U;
inline constexpr std::int64_t kNibbleMaskBytes = 4;

enum class Weights { Stored, Sparse, Int8, Int4 };

struct RelayoutProblem {
    std::int64_t k_tiles = 0;
    std::int64_t element_bytes = 1;
    Weights weights = Weights::Stored;
    std::int64_t raw = 0;           // address of B as stored
    std::int64_t raw_row = 0;       // bytes of a stored row
    std::int64_t masks = 0;         // of sparse weights: address of the first line's
    int lines = 0;                  // table of the lines' non-zero bytes
    std::int64_t first_line = 0;    // index of the first line in it
    std::int64_t packed = 0;        // address of the tiles
    std::int64_t packed_block = 0;  // bytes a tile across, of the first: 0 where blocks share
};

// What `decompress` and `decompress_line` of int4 need in a register: `kNibbleMask` at `mask`.
void nibble_constants(arch::amx::program::Program& program, std::int64_t mask);
// Tiles [first, first + count) across, all k: B as stored.
void relay(arch::amx::program::Program& program, const RelayoutProblem& problem,
           const arch::amx::program::Address& first, std::int64_t count);
// As `relay`, from compressed weights.
void decompress(arch::amx::program::Program& program, const RelayoutProblem& problem,
                const arch::amx::program::Address& first, std::int64_t count);
// Line `line` of a tile, `across` and `k` being its indices, to where `to` says.
void decompress_line(arch::amx::program::Program& program, const RelayoutProblem& problem,
                     const arch::amx::program::Address& across,
                     const arch::amx::program::Address& k, std::int64_t line,
                     const arch::amx::program::Address& to);

}  // namespace tilesim::workloads::amx::tiles
