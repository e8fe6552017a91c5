// What a sweep will take on this host, from some of its points tried for a few seconds.
//
// Those that were not tried cost what the law of cost_law.hpp expects after those that were.
#pragma once

#include <cstddef>
#include <string>

#include "sim/explore/point.hpp"

namespace tilesim::sim::explore {

struct CostEstimate {
    double wall_s = 0, bytes = 0;  // a point, mean
    std::string source;            // how it is known
};

CostEstimate estimate_cost(const SweepFile& sweep, std::size_t processes);

}  // namespace tilesim::sim::explore
