// Whether instructions may execute, as far as tiles' shapes decide.
#pragma once

#include <optional>

#include "arch/amx/program/instruction.hpp"
#include "arch/amx/program/tile_config.hpp"

namespace tilesim::arch::amx::program {

// Why an instruction of the program faults with these tiles; nothing where it does not, and then
// LDTILECFG and TILERELEASE have changed them.
std::optional<Fault> execute_on(TileConfig& tiles, const Program& program,
                                const Instruction& instruction);

struct FirstFault {
    int line = 0;  // of the program's text
    Fault fault;
};
// Of everything the program executes, in its order.
std::optional<FirstFault> first_fault(const Program& program);

}  // namespace tilesim::arch::amx::program
