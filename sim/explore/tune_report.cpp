// What `tilesim tune` prints: the best mappings, and why the first of them wins.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/explore/tuner.hpp"

namespace tilesim::sim::explore {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kShown = 12;
constexpr double kNanosecondsPerMicrosecond = 1e3;
constexpr double kBytesPerMb = 1e6;

// As a scenario states it.
std::string yaml_of(const Json& mapping) {
    std::string text = "mapping:\n";
    for (const auto& [kind, keys] : mapping.items()) {
        std::string inner;
        for (const auto& [key, value] : keys.items()) {
            inner += fmt::format("{}{}: {}", inner.empty() ? "" : ", ", key,
                                 value.is_string() ? value.get<std::string>() : value.dump());
        }
        text += fmt::format("  {}: {{{}}}\n", kind, inner);
    }
    return text;
}

Json in_json(const Trial& trial) {
    const auto& bounds = trial.candidate.bounds;
    return {{"mapping", trial.candidate.described()},
            {"status", trial.status},
            {"time_ns", trial.time_ns},
            {"estimated", trial.estimated},
            {"tops", trial.tops},
            {"compute_ns", bounds.compute_ns},
            {"stream_ns", bounds.stream_ns},
            {"memory_ns", bounds.memory_ns},
            {"dram_bytes", bounds.dram_bytes},
            {"bottleneck", trial.bottleneck}};
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
    const std::string traffic = mine.dram_bytes > 0
                                    ? fmt::format(", DRAM bytes {:+.1f} %",
                                                  percent_over(theirs.dram_bytes, mine.dram_bytes))
                                    : "";
    return fmt::format(
        "  {} has {}: kernels {:+.1f} %{} against the winner, but {:+.1f} % time in all; its "
        "bottleneck: {}\n",
        best->candidate.name, what, percent_over(theirs.compute_ns, mine.compute_ns), traffic,
        percent_over(best->time_ns, winner.time_ns), best->bottleneck);
}

// From which block along K on the winner's tile is about as fast.
std::string saturation_text(const TuneResult& result) {
    if (result.shorter.empty()) {
        return "";
    }
    std::string text = "\nwith shorter blocks, TOPS (~: of an excerpt):";
    const auto add = [&text](const Trial& trial) {
        text += fmt::format("\n  {}: {}{:.3f}", trial.candidate.name,
                            trial.estimated ? "~" : "", trial.tops);
    };
    std::for_each(result.shorter.begin(), result.shorter.end(), add);
    add(result.trials[0]);
    if (!result.saturated) {
        return text + "\nno shorter block comes within 1 %\n";
    }
    const Trial& chosen = result.shorter[*result.saturated];
    return text +
           fmt::format("\nthe smallest within 1 %: {}\n", chosen.candidate.name) +
           yaml_of(chosen.candidate.described());
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
        "mapping", "time us", "TOPS", "compute us", "memory us", "DRAM MB", "bottleneck");
    for (std::size_t i = 0; i < std::min(kShown, result.trials.size()); ++i) {
        const Trial& trial = result.trials[i];
        const auto& bounds = trial.candidate.bounds;
        text += fmt::format(
            "{:<34} {:>10} {:>8.3f} {:>10.1f} {:>10.1f} {:>9.1f}  {}\n", trial.candidate.name,
            fmt::format("{}{:.1f}", trial.estimated ? "~" : "",
                        trial.time_ns / kNanosecondsPerMicrosecond),
            trial.tops, bounds.compute_ns / kNanosecondsPerMicrosecond,
            bounds.memory_ns / kNanosecondsPerMicrosecond, bounds.dram_bytes / kBytesPerMb,
            trial.status == "ok" ? trial.bottleneck : trial.status);
    }
    const Trial& winner = result.trials[0];
    text += fmt::format("\nwhy {} wins: its bottleneck is '{}'\n", winner.candidate.name,
                        winner.bottleneck);
    text += rival(result, "the least kernel time",
                  [](const TuneCandidate& c) { return c.bounds.compute_ns; });
    if (winner.candidate.bounds.dram_bytes > 0) {
        text += rival(result, "the least DRAM traffic",
                      [](const TuneCandidate& c) { return c.bounds.dram_bytes; });
    }
    text += '\n';
    text += yaml_of(winner.candidate.described());
    text += saturation_text(result);
    return text;
}

Json to_json(const TuneResult& result) {
    const auto all = [](const std::vector<Trial>& trials) {
        Json list = Json::array();
        for (const Trial& trial : trials) {
            list.push_back(in_json(trial));
        }
        return list;
    };
    Json json{{"legal", result.legal},
              {"candidates", result.candidates},
              {"ruled_out", result.cut},
              {"left", result.left},
              {"trials", all(result.trials)}};
    json["shorter_k_mt"] = all(result.shorter);
    json["saturated"] =
        in_json(result.saturated ? result.shorter[*result.saturated] : result.trials[0]);
    return json;
}

}  // namespace tilesim::sim::explore
