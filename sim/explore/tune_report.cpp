// What `tilesim tune` prints: the best mappings, and why the first of them wins.
#include <fmt/format.h>

#include <algorithm>

#include "sim/explore/tuner.hpp"

namespace tilesim::sim::explore {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kShown = 12;
constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kBytesPerMb = 1e6;

std::string name_of(const workloads::OutputStationaryMapping& map) {
    return fmt::format("{} x {} x {}, k_mt {}{}", map.m_ct, map.k_ct, map.n_ct, map.k_mt,
                       map.c_buffers == 2 ? ", C double" : "");
}

double percent_over(double value, double other) {
    constexpr double kPercent = 100.0;
    return kPercent * (value / other - 1.0);
}

// The trial that is best in one respect, against the winner.
template <class Quantity>
std::string rival(const TuneResult& result, const char* what, Quantity quantity) {
    const Trial& winner = result.trials[0];
    const auto best = std::min_element(
        result.trials.begin(), result.trials.end(), [&](const Trial& a, const Trial& b) {
            return std::tuple{a.status != "ok", quantity(a.candidate), a.time_ns} <
                   std::tuple{b.status != "ok", quantity(b.candidate), b.time_ns};
        });
    if (quantity(best->candidate) == quantity(winner.candidate)) {
        return fmt::format("  it has {} of those simulated\n", what);
    }
    const auto& mine = winner.candidate.bounds;
    const auto& theirs = best->candidate.bounds;
    return fmt::format(
        "  {} has {}: kernels {:+.1f} %, DRAM bytes {:+.1f} % against the winner, "
        "but {:+.1f} % time in all; its bottleneck: {}\n",
        name_of(best->candidate.mapping), what, percent_over(theirs.compute_ns, mine.compute_ns),
        percent_over(theirs.dram_bytes, mine.dram_bytes),
        percent_over(best->time_ns, winner.time_ns), best->bottleneck);
}

}  // namespace

std::string to_table(const TuneResult& result) {
    std::string text = fmt::format(
        "{} mappings fit; {} of them no other one dominates; {} simulated, {} ruled out by their "
        "bounds{}\n\n{:<34} {:>10} {:>8} {:>10} {:>10} {:>9}  {}\n",
        result.legal, result.candidates, result.trials.size(), result.cut,
        result.left > 0
            ? fmt::format(", {} cannot win at the DRAM bandwidth seen, or are beyond --simulations",
                          result.left)
            : "",
        "core tile m x k x n", "time us", "TOPS", "compute us", "memory us", "DRAM MB",
        "bottleneck");
    for (std::size_t i = 0; i < std::min(kShown, result.trials.size()); ++i) {
        const Trial& trial = result.trials[i];
        const auto& bounds = trial.candidate.bounds;
        text += fmt::format(
            "{:<34} {:>10.1f} {:>8.3f} {:>10.1f} {:>10.1f} {:>9.1f}  {}\n",
            name_of(trial.candidate.mapping), trial.time_ns / kNanosecondsPerMicrosecond,
            trial.tops, bounds.compute_ns / kNanosecondsPerMicrosecond,
            bounds.memory_ns / kNanosecondsPerMicrosecond, bounds.dram_bytes / kBytesPerMb,
            trial.status == "ok" ? trial.bottleneck : trial.status);
    }
    const Trial& winner = result.trials[0];
    text += fmt::format("\nwhy {} wins: its bottleneck is '{}'\n",
                        name_of(winner.candidate.mapping), winner.bottleneck);
    text += rival(result, "the least kernel time",
                  [](const Candidate& c) { return c.bounds.compute_ns; });
    text += rival(result, "the least DRAM traffic",
                  [](const Candidate& c) { return c.bounds.dram_bytes; });
    const auto& map = winner.candidate.mapping;
    text += fmt::format(
        "\nmapping:\n  output_stationary: {{m_ct: {}, k_ct: {}, n_ct: {}, k_mt: {}, c_buffers: {}, "
        "shim_bds: overlapped}}\n",
        map.m_ct, map.k_ct, map.n_ct, map.k_mt, map.c_buffers);
    return text;
}

Json to_json(const TuneResult& result) {
    Json trials = Json::array();
    for (const Trial& trial : result.trials) {
        const auto& map = trial.candidate.mapping;
        const auto& bounds = trial.candidate.bounds;
        trials.push_back({{"mapping",
                           {{"output_stationary",
                             {{"m_ct", map.m_ct},
                              {"k_ct", map.k_ct},
                              {"n_ct", map.n_ct},
                              {"k_mt", map.k_mt},
                              {"c_buffers", map.c_buffers},
                              {"shim_bds", "overlapped"}}}}},
                          {"status", trial.status},
                          {"time_ns", trial.time_ns},
                          {"tops", trial.tops},
                          {"compute_ns", bounds.compute_ns},
                          {"stream_ns", bounds.stream_ns},
                          {"memory_ns", bounds.memory_ns},
                          {"dram_bytes", bounds.dram_bytes},
                          {"bottleneck", trial.bottleneck}});
    }
    return {{"legal", result.legal},
            {"candidates", result.candidates},
            {"ruled_out", result.cut},
            {"left", result.left},
            {"trials", std::move(trials)}};
}

}  // namespace tilesim::sim::explore
