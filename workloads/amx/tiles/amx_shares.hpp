// What each thread of a product on AMX cores computes.
#pragma once

#include <cstdint>

#include "arch/amx/program/instruction.hpp"
#include "workloads/amx/tiles/amx_block.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/lowered_amx.hpp"

namespace tilesim::workloads::amx::tiles {

// Cuts the whole problem down to what thread `t` computes; m, n or the groups of rows are 0 where
// there are more threads than blocks.
void take_share(TileProblem& problem, const GemmProblem& gemm, const AmxMapping& mapping,
                std::int64_t t, const LoweredAmx& lowered);
// After a partition of k: thread `t` adds its rows of all copies of C into the first.
void add_copies(arch::amx::program::Program& program, const GemmProblem& gemm,
                const AmxMapping& mapping, const LoweredAmx& lowered, std::int64_t t);

}  // namespace tilesim::workloads::amx::tiles
