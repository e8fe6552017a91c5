// What the halves of the assembler share; private to them.
#pragma once

#include <array>
#include <cstdint>

#include "arch/amx/program/instruction.hpp"
#include "validation/amx/harness/encoder.hpp"

namespace tilesim::validation::amx::harness {

// All but the stack pointer; the ones a callee must keep come last.
inline constexpr std::array<int, 15> kRegisters{0, 1, 2, 6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15};
inline constexpr int kExpandMask = 1;  // the mask register that KMOVQ loads
inline constexpr VectorForm kLoadFloats{OpcodeMap::Of, Prefix::None, 0x10};

bool is_shuffle(arch::amx::program::Opcode opcode);
// Of a vector whose length is no register's: the widest elements that divide it.
std::int64_t element_bytes(std::int64_t bytes);
// Elements that an instruction masks; 0: it needs no mask.
std::int64_t masked_elements(const arch::amx::program::Instruction& instruction);

}  // namespace tilesim::validation::amx::harness
