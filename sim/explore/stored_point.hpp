// What the store keeps of a point of a sweep that has ended.
#pragma once

#include <string>

#include "sim/explore/simulate.hpp"
#include "sim/explore/store.hpp"

namespace tilesim::sim::explore {

// Beside the result the command that repeats it.
StoredPoint stored_point(const SweepFile& sweep, const Point& point, const Simulated& outcome,
                         const std::string& model);

}  // namespace tilesim::sim::explore
