// B that a thread brings into the tile layout before, or among, its products: rows as stored,
// compressed weights.
#pragma once

#include <cstdint>

#include "workloads/amx/tiles/amx_block.hpp"
#include "workloads/amx/tiles/amx_layout.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/amx/tiles/lowered_amx.hpp"

namespace tilesim::workloads::amx::tiles {

// Gives thread `t`, whose share `problem` is, a panel of its own, lets its products read B there
// and adds the code that fills it; notes what that code reads. Nothing where B is in tiles already.
void prepare_b(TileProblem& problem, const GemmProblem& gemm, const AmxMapping& mapping,
               LoweredAmx& lowered, Pages& pages, std::int64_t t);

}  // namespace tilesim::workloads::amx::tiles
