// Searches the best mapping of a scenario by simulation, most promising first.
//
// The mapping a plain run would take is simulated first and whole, so that the answer is never
// slower. The others are tried sampled where the user allows; the best of them are then simulated
// whole, and the winner is one of these. Only a proven bound excludes a mapping.
// How much faster it is than others, and what of that is chance, stands beside it.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/batch.hpp"
#include "sim/explore/tune_space.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

struct TuneOptions {
    std::size_t jobs = 1;
    std::int64_t simulations = 0;  // at most; 0: as many as the time allows
    double seconds = 45;           // of host time, about
    bool exact = false;            // nothing sampled
    bool all = false;         // each is simulated whole, none is ruled out, however long it takes
    std::int64_t spread = 0;  // with `all`: only so many, evenly spread over them; 0: each
    bool quiet = false;
};

struct Trial {
    TuneCandidate candidate;
    std::string origin;  // "default", "given": where it is not of the search
    std::string status;
    std::string error;
    double time_ns = 0;
    double tops = 0;
    std::string bottleneck;
    bool sampled = false;      // `time_ns` is extrapolated
    double error_percent = 0;  // of it, then
    double host_s = 0;         // what the simulation took
    bool good() const { return status == "ok"; }
    bool slower() const { return status == "time_limit"; }  // than the best, by far: not ended
    bool answered() const { return good() || slower(); }
};

// The winner against another mapping.
struct Advantage {
    std::string over;  // "default", "given", "next best"
    std::string name;
    double percent = 0;  // less time, with refreshes as they come
    // The least and the most with refreshes that come at other moments; nothing: not tried.
    std::optional<std::pair<double, double>> otherwise;

    bool by_chance() const { return otherwise && std::min(percent, otherwise->first) <= 0; }
};

struct TuneResult {
    std::int64_t mappings = 0;   // that fit
    std::int64_t ruled_out = 0;  // by their bounds: proven slower than the best
    std::int64_t left = 0;       // neither simulated nor ruled out
    bool spread = false;         // those left lie between those that were chosen
    std::vector<Trial> trials;   // best first, those simulated whole before those sampled
    // No mapping that was not simulated is faster than this; nothing: each was.
    std::optional<double> least_bound_ns;
    bool interrupted = false;
    std::vector<Advantage> advantages;
    std::string command;      // runs the winner
    std::string reservation;  // what its dataflow says beside it (workloads/dataflow.hpp)
    // The winner with less of what costs room (on an NPU shorter blocks along K), least first.
    std::vector<Trial> shorter;
    std::optional<std::size_t> saturated;  // of `shorter`, the first that is about as fast, whole

    const Trial& winner() const { return trials.front(); }
    const Trial* of_origin(const std::string& origin) const;
    // By how much any mapping could be faster than the winner, as far as bounds prove; percent.
    double most_percent_faster() const;
};

// Throws ConfigError when the scenario has nothing to tune.
TuneResult tune(const Job& base, const TuneOptions& options);

std::string to_table(const TuneResult& result);
nlohmann::ordered_json to_json(const TuneResult& result);

}  // namespace tilesim::sim::explore
