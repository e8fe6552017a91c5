// The mappings `tilesim tune` chooses among, for each kind of device.
//
//   NPU  output-stationary tiles under the memories' limits (mapping_search.hpp).
//   PIM  balanced placements: input registers, row blocks of a pass, parts of K; and column-major.
//   AMX  accumulator blocks and loop orders under the eight tiles, layouts of B, cache blocks of N
//        and K; what else the scenario's mapping says stays.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/sweep_file.hpp"
#include "sim/scenario.hpp"
#include "workloads/bounds.hpp"

namespace tilesim::sim::explore {

struct TuneCandidate {
    std::string name;                // as a row of a table calls it
    nlohmann::ordered_json mapping;  // {"pimnast": {...}}
    Settings settings;               // make a scenario use it
    workloads::GemmBounds bounds;    // none of its simulations is faster
    std::optional<workloads::OutputStationaryMapping> output_stationary;
};

struct TuneSpace {
    std::int64_t legal = 0;                 // mappings that fit
    std::vector<TuneCandidate> candidates;  // of them, those no other one dominates
};

// Throws ConfigError when the scenario has nothing to tune.
TuneSpace tune_space(const Scenario& scenario);

// A product of fewer rows that says how fast the whole one is. After a launch an array repeats one
// round, a tile of C on every core; some rounds show what each costs.
struct Excerpt {
    Settings settings;    // make a scenario compute it; none where it is the whole product
    double fixed_ns = 0;  // of a launch
    double scale = 1;     // rounds of the whole over rounds of this
    double whole_ns(double time_ns) const { return fixed_ns + (time_ns - fixed_ns) * scale; }
    bool whole() const { return settings.empty(); }
};
Excerpt excerpt_of(const Scenario& scenario, const TuneCandidate& candidate);

// The candidate with every shorter block along K: from these the smallest that saturates is chosen.
std::vector<TuneCandidate> shorter_blocks(const Scenario& scenario, const TuneCandidate& candidate);

}  // namespace tilesim::sim::explore
