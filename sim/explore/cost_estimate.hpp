// What a sweep will take on this host, from some of its points tried for a few seconds.
//
// Points of one device are expected to grow with their multiply-accumulates as the largest tried
// ones do, so that a sweep of small and large products is judged by more than its small ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/point.hpp"

namespace tilesim::sim::explore {

struct TriedPoint {
    std::string device;
    double macs = 0;
    double wall_s = 0;
};

// Of a point like these; nothing where none of its device was tried.
std::optional<double> expected_wall_s(const std::vector<TriedPoint>& tried,
                                      const std::string& device, double macs);

struct CostEstimate {
    double wall_s = 0, bytes = 0;  // a point, mean
    std::string source;            // how it is known
};

CostEstimate estimate_cost(const SweepFile& sweep, std::size_t processes);

}  // namespace tilesim::sim::explore
