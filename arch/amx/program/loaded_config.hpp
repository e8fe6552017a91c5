// Which tile configuration an instruction finds loaded: that of the LDTILECFG above it or, in later
// turns of a loop around it, what the loop has loaded by its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::arch::amx::program {

struct LoadedConfig {
    int config = -1;           // index into Program::configs; -1: none
    std::vector<Turns> turns;  // of the loops around the instruction, in which it is loaded
    int loaded_by = -1;        // variable of the loop that has loaded it by its end; -1: none
};

// Of each tile load and store, in the order of statements, every configuration that it finds
// loaded. Loops must be closed; what one of no turns loads stays in it.
void each_loaded_config(
    const Program& program,
    const std::function<void(std::size_t statement, const LoadedConfig& loaded)>& body);

}  // namespace tilesim::arch::amx::program
