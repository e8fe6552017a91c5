// What a trace shows of a design's compiled cores, as keys of its scenario.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/trace_compare.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::compare {

// As for --set. Cycles of a kernel are those of the one function the cores call, unless somebody
// has stated them: of several a trace does not say which it has marked.
std::vector<std::string> settings_of(const CompiledCode& code, const sim::Scenario& scenario);

}  // namespace tilesim::sim::compare
