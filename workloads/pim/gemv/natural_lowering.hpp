// Placements of shipped designs as programs: `mapping.bank_rows` (GDDR6-AiM: a matrix row in a
// bank's row) and `mapping.tile_pairs` (HBM-PIM: tiles of eight outputs a unit, alternating between
// its two banks).
//
// Vectors that have an ALU each share a pass: their inputs are written and their sums leave one
// after the other.
//
// Functional mode: the vector of a command is the first of its pass; the row block of a command is
// the first output of it, of those that its banks have; a MAC's words are the inputs of that
// output, then those of the next.
#pragma once

#include <cstdint>

#include "arch/memory/device/memory_config.hpp"
#include "arch/pim/pim_config.hpp"
#include "arch/pim/pim_program.hpp"
#include "workloads/gemv.hpp"

namespace tilesim::workloads::pim::gemv {

// Weights in a word.
std::int64_t lanes_of(const GemvProblem& gemv, const arch::pim::PimConfig& pim);

// A bank holds rows of the matrix, each in as many of its rows as it takes. As many inputs of one
// as fit the input registers are multiplied together; a bank's sum is read before its next row.
// Throws ConfigError where the device is not made for it.
arch::pim::PimProgram lower_bank_rows(const GemvProblem& gemv, std::int64_t vectors,
                                      const arch::memory::device::MemoryConfig& memory,
                                      const arch::pim::PimConfig& pim);

// A unit works on as many outputs as its output registers hold the lanes of; the inputs of as many
// registers are a tile, which lies in one of its two banks: even tiles first, then odd ones. Throws
// ConfigError where the device is not made for it.
arch::pim::PimProgram lower_tile_pairs(const GemvProblem& gemv, std::int64_t vectors,
                                       const arch::memory::device::MemoryConfig& memory,
                                       const arch::pim::PimConfig& pim);

}  // namespace tilesim::workloads::pim::gemv
