// The mapping of a case that gives none: what a short look at the most promising ones favours.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/dataflow.hpp"

namespace tilesim::workloads {

// Of the dataflow's candidates those expected to be fastest are simulated, sampled but for small
// products, what the tried ones took correcting what is expected of the others; then variants of
// the fastest, for small products as long as they help: the more of them, the less the first took
// to simulate. The fastest of all is taken. Throws ConfigError where none fits. `why`: none fits,
// where that is known.
Choice best_expected(const Dataflow& dataflow, const Case& a_case, Runner& runner,
                     const std::function<std::string()>& why = {});

// The fastest of these, each simulated.
Choice fastest_of(std::vector<Candidate> candidates, const Case& a_case, Runner& runner);

// The best of a few of another dataflow's mappings, where it is faster than the choice.
std::optional<Choice> faster_of(const Dataflow& rival, const Choice& choice, const Case& a_case,
                                Runner& runner);

}  // namespace tilesim::workloads
