// Generates the instructions of a product of tiles: cache blocks, blocks of accumulators in them,
// post-operations behind them.
#pragma once

#include "workloads/amx/tiles/amx_block.hpp"

namespace tilesim::workloads::amx::tiles {

// Appends the code of the whole problem: configuration, then `mapping.repeat` times the product
// with what `finish` appends.
void generate(arch::amx::program::Program& program, const TileProblem& problem,
              const AmxMapping& mapping, const std::function<void()>& finish);

}  // namespace tilesim::workloads::amx::tiles
