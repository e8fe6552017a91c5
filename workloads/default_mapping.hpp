// The mapping of a case that gives none: what a short look at the most promising ones favours.
#pragma once

#include "workloads/dataflow.hpp"

namespace tilesim::workloads {

// Of the dataflow's candidates those expected to be fastest are simulated, sampled; the fastest is
// taken. Throws ConfigError where none fits.
Choice best_expected(const Dataflow& dataflow, const Case& a_case, Runner& runner);

}  // namespace tilesim::workloads
