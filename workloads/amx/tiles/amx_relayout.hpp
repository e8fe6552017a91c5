// AVX-512 code that brings B into the tile layout at run time: from rows as stored, or from
// compressed weights, which are sparse bytes or int8 for products of bf16.
#pragma once

#include <cstdint>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::workloads::amx::tiles {

inline constexpr std::int64_t kMaskBytes = 8;  // a row of a sparse tile: a bit an element
inline constexpr std::int64_t kNarrowTileBytes = 512;  // a tile of bf16 as int8

struct RelayoutProblem {
    std::int64_t k_tiles = 0;
    std::int64_t element_bytes = 1;
    bool narrow = false;            // compressed weights are int8, not sparse
    std::int64_t raw = 0;           // address of B as stored
    std::int64_t raw_row = 0;       // bytes of a stored row
    std::int64_t masks = 0;         // of sparse weights: address of the first line's
    int lines = 0;                  // table of the lines' non-zero bytes
    std::int64_t first_line = 0;    // index of the first line in it
    std::int64_t packed = 0;        // address of the tiles
    std::int64_t packed_block = 0;  // bytes a tile across, of the first: 0 where blocks share
};

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
