// Runs the points of a sweep that its store does not hold yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/explore/axis_effects.hpp"
#include "sim/explore/point.hpp"
#include "sim/explore/store.hpp"

namespace tilesim::sim::explore {

struct SweepOptions {
    std::size_t jobs = 1;
    bool retry_failed = false;
    bool new_model = false;  // compute anew in a store that holds an older model's results
    bool quiet = false;
};

struct SweepOutcome {
    std::int64_t points = 0;   // of the sweep, or of its shard
    std::int64_t reused = 0;   // found in the store
    std::int64_t ok = 0;       // newly simulated
    std::int64_t invalid = 0;  // combinations that cannot be built
    std::int64_t failed = 0;
    std::int64_t left = 0;                    // not run: interrupted
    std::string first_problem;                // of an invalid or failed point
    std::vector<AxisEffects::Unfelt> unfelt;  // axes, by the points newly simulated
};

SweepOutcome run_sweep(const SweepFile& sweep, const std::vector<Point>& points, Store& store,
                       const SweepOptions& options);

}  // namespace tilesim::sim::explore
