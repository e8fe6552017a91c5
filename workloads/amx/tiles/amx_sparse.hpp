// Which bytes of sparse weights are not zero.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

// One mask for each line of 64 bytes of the tile layout (four of k for 16 columns), column of tiles
// by column of tiles, k inside; bit i: byte i is kept. Every byte inside B is kept on its own with
// probability `density_percent`, so that lines differ in length; bytes beyond B are not kept.
std::vector<std::uint64_t> random_line_masks(const GemmProblem& gemm, std::int64_t density_percent,
                                             std::uint64_t seed);

}  // namespace tilesim::workloads::amx::tiles
