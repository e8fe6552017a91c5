// Loops that find the pieces of a table as real code does: each mask's bits are counted and added
// to a pointer. And masks with as many bits as the pieces have bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::validation::amx::harness {

// The loop that begins at statement `begin`, when it contains no other, takes a table's pieces one
// after the other, and follows each VPEXPANDB by the two scalar instructions that count and add:
// the table, and the piece it starts with.
std::optional<arch::amx::program::Address> counted_expands(
    const arch::amx::program::Program& program, std::size_t begin);

// By address, the mask that KMOVQ loads for a VPEXPANDB of a table's piece; its bits are spread
// evenly.
std::map<std::int64_t, std::uint64_t> line_masks(const arch::amx::program::Program& program);

}  // namespace tilesim::validation::amx::harness
