// What most of the difference between two traces comes from.
#pragma once

#include "sim/compare/trace_compare.hpp"

namespace tilesim::sim::compare {

// What differs by less is alike.
inline constexpr double kApart = 0.02;

// Sorts the rows, the largest excess first, and says what stands out.
void name_cause(TraceComparison& result);

}  // namespace tilesim::sim::compare
