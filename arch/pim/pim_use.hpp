// Which numbers of the processing in memory cannot have mattered to a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/pim/pim_config.hpp"
#include "arch/pim/pim_program.hpp"

namespace tilesim::arch::pim {

// Key paths ("pim.scale_commands"). `rows`: of a bank.
std::vector<std::string> not_exercised(const PimConfig& config, const PimProgram& program,
                                       std::int64_t rows);

}  // namespace tilesim::arch::pim
