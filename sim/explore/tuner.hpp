// Searches the best mapping of a scenario by simulation, most promising first. On an NPU a
// candidate is tried on an excerpt of the product; the best of them are then simulated whole.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/explore/tune_space.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

struct TuneOptions {
    std::size_t jobs = 1;
    std::int64_t simulations = 48;  // at most
    bool quiet = false;
};

struct Trial {
    TuneCandidate candidate;
    std::string status;
    std::string error;
    double time_ns = 0;
    double tops = 0;
    std::string bottleneck;
    double estimate_ns = 0;  // of the whole product, from an excerpt of it
    bool estimated = false;  // that is also what `time_ns` says
};

struct TuneResult {
    std::int64_t legal = 0;       // mappings that fit
    std::int64_t candidates = 0;  // of them, not dominated
    std::int64_t cut = 0;         // of those, ruled out by their bounds
    std::int64_t left = 0;        // of those, neither simulated nor ruled out
    std::vector<Trial> trials;    // best first, those simulated whole before those estimated
    // The winner with less of what costs room (on an NPU shorter blocks along K), least first.
    std::vector<Trial> shorter;
    std::optional<std::size_t> saturated;  // of `shorter`, the first that is about as fast, whole
};

// Throws ConfigError when the scenario has nothing to tune.
TuneResult tune(const Scenario& scenario, const std::string& text, const std::string& file,
                const std::vector<std::pair<std::string, std::string>>& overrides,
                const TuneOptions& options);

std::string to_table(const TuneResult& result);
nlohmann::ordered_json to_json(const TuneResult& result);

}  // namespace tilesim::sim::explore
