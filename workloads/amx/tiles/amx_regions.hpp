// A thread's part of an operand, which need not lie in one piece.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/amx/tiles/lowered_amx.hpp"

namespace tilesim::workloads::amx::tiles {

// So many runs of bytes, each `stride` behind the one before.
struct Runs {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t stride = 0;
    std::int64_t count = 1;

    // From the first to the last, with what lies between.
    AmxRegion around(std::int64_t thread) const;
};

// One region where they touch, else one each.
void add_runs(std::vector<AmxRegion>& regions, std::int64_t thread, const Runs& runs);

}  // namespace tilesim::workloads::amx::tiles
