// What a measured trace shows of the code that a compiler has made of a design's cores, and the
// keys of a scenario that say so: the design does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/units.hpp"
#include "sim/compare/trace_file.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::compare {

struct CompiledCode {  // where the simulation has something else
    // Fewest cycles from one lock instruction to the next, where the core does nothing between.
    std::optional<std::int64_t> lock_spacing;
    std::optional<std::int64_t> kernel;  // cycles between its markers, the median
};

// `lock_cycles` is what a lock instruction has taken in the simulation.
CompiledCode compiled_code(const TraceFile& measured, const TraceFile& simulated,
                           arch::base::Cycles lock_cycles);

// As for --set, each a way to read the trace: it does not say whose cycles those between markers
// are. Where the cores call one function, they are its; of several each is tried that may be alone
// in marking its code, those expected to last longest first. Nothing is set of a function whose
// cycles somebody has stated.
std::vector<std::vector<std::string>> settings_of(const CompiledCode& code,
                                                  const sim::Scenario& scenario);

}  // namespace tilesim::sim::compare
