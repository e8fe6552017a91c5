// The cycle of a graph that lets it go round least often: most time for each token on it.
//
// Boost's maximum_cycle_ratio ends after a hundred iterations, whether it has found the cycle or
// not, which is too few for the programs of whole arrays.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tilesim::arch::npu::check {

struct TimedEdge {
    std::size_t from = 0, to = 0;  // nodes
    double time = 0, tokens = 0;
};

struct TightestCycle {
    double ratio = 0;  // time over tokens
    std::vector<std::size_t> nodes;
};

// Nothing where no cycle takes time, or where one has no token left.
std::optional<TightestCycle> tightest_cycle(std::size_t nodes, const std::vector<TimedEdge>& edges);

}  // namespace tilesim::arch::npu::check
