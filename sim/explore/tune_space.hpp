// The mappings `tilesim tune` chooses among: those of every dataflow that serves the scenario.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/sweep_file.hpp"
#include "sim/scenario.hpp"
#include "workloads/bounds.hpp"

namespace tilesim::sim::explore {

struct TuneCandidate {
    std::string name;  // as a row of a table calls it
    workloads::Mapping mapping;
    workloads::GemmBounds bounds;  // none of its simulations is faster

    nlohmann::ordered_json described() const { return mapping.dataflow().describe(mapping); }
    Settings settings() const;  // make a scenario use it
    workloads::Excerpt excerpt(const Scenario& scenario) const {
        return mapping.dataflow().excerpt(scenario, mapping);
    }
};

struct TuneSpace {
    std::int64_t legal = 0;                 // mappings that fit
    std::vector<TuneCandidate> candidates;  // of them, those no other one dominates
};

// Throws ConfigError when the scenario has nothing to tune.
TuneSpace tune_space(const Scenario& scenario);

// The candidate with less of what costs room: from these the smallest that saturates is chosen.
std::vector<TuneCandidate> reduced(const Scenario& scenario, const TuneCandidate& candidate);

}  // namespace tilesim::sim::explore
