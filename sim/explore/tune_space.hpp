// The mappings `tilesim tune` chooses among: those of every dataflow that serves the scenario.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/sweep_file.hpp"
#include "sim/scenario.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::sim::explore {

struct TuneCandidate : workloads::Candidate {
    nlohmann::ordered_json described() const { return mapping.dataflow().describe(mapping); }
    Settings settings() const;  // make a scenario use it
};

// All that fit. Throws ConfigError when the scenario has nothing to tune.
std::vector<TuneCandidate> tune_space(const Scenario& scenario);

// The candidate with one of its other keys changed.
std::vector<TuneCandidate> variants(const Scenario& scenario, const TuneCandidate& candidate);
// The candidate with less of what costs room: from these the smallest that saturates is chosen.
std::vector<TuneCandidate> reduced(const Scenario& scenario, const TuneCandidate& candidate);

}  // namespace tilesim::sim::explore
