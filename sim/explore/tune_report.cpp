// What `tilesim tune` prints: the best mappings, and why the first of them wins.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "arch/base/units.hpp"
#include "sim/explore/tuner.hpp"

namespace tilesim::sim::explore {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kShown = 12;
constexpr std::size_t kNarrowest = 34;  // column of names
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
            {"sampled", trial.sampled},
            {"error_percent", trial.error_percent},
            {"origin", trial.origin},
            {"tops", trial.tops},
            {"compute_ns", bounds.compute_ns},
            {"stream_ns", bounds.stream_ns},
            {"memory_ns", bounds.memory_ns},
            {"dram_bytes", bounds.dram_bytes},
            {"bottleneck", trial.bottleneck}};
}

double percent_over(double value, double other) {
    using arch::base::kPercent;
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
    std::string text = "\nwith shorter blocks, TOPS (~: sampled):";
    const auto add = [&text](const Trial& trial) {
        text += fmt::format("\n  {}: {}{:.3f}", trial.candidate.name, trial.sampled ? "~" : "",
                            trial.tops);
    };
    std::for_each(result.shorter.begin(), result.shorter.end(), add);
    add(result.trials[0]);
    if (!result.saturated) {
        return text + "\nno shorter block comes within 1 %\n";
    }
    const Trial& chosen = result.shorter[*result.saturated];
    return text + fmt::format("\nthe smallest within 1 %: {}\n", chosen.candidate.name) +
           yaml_of(chosen.candidate.described());
}

// What was proven of the mappings that were not simulated whole.
std::string proof_of(const TuneResult& result) {
    const double faster = result.most_percent_faster();
    return faster == 0 ? "proven: the best of all of them\n"
                       : fmt::format(
                             "proven by bounds alone: none of the mappings counted can be more "
                             "than {:.1f} % faster\n",
                             faster);
}

std::string count_of(const TuneResult& result) {
    const auto of = [&result](auto which) {
        return std::count_if(result.trials.begin(), result.trials.end(), which);
    };
    return fmt::format(
        "{} mappings fit: {} simulated whole, {} sampled, {} stopped when they were clearly "
        "slower, {} ruled out by their bounds, {} left{}\n",
        result.mappings, of([](const Trial& t) { return t.good() && !t.sampled; }),
        of([](const Trial& t) { return t.good() && t.sampled; }),
        of([](const Trial& t) { return t.slower(); }), result.ruled_out, result.left,
        result.interrupted ? " (interrupted)"
        : result.spread    ? " between those chosen (--spread)"
        : result.left > 0  ? " when the time was up (--time, --simulations)"
                           : "");
}

std::string row_of(const Trial& trial, std::size_t width) {
    const auto& bounds = trial.candidate.bounds;
    return fmt::format(
        "{:<{}} {:>14} {:>8.3f} {:>10.1f} {:>10.1f} {:>9.1f}  {}{}\n", trial.candidate.name, width,
        fmt::format("{:.1f}{}", trial.time_ns / kNanosecondsPerMicrosecond,
                    trial.sampled ? fmt::format(" +-{:.1f} %", trial.error_percent) : ""),
        trial.tops, bounds.compute_ns / kNanosecondsPerMicrosecond,
        bounds.memory_ns / kNanosecondsPerMicrosecond, bounds.dram_bytes / kBytesPerMb,
        trial.good() ? trial.bottleneck : trial.status,
        trial.origin.empty() ? "" : fmt::format(" ({})", trial.origin));
}

std::string advantage_text(const Advantage& advantage) {
    const std::string text = fmt::format("  against the {}{}, {}: {:.1f} % faster", advantage.over,
                                         advantage.over == "next best" ? "" : " mapping",
                                         advantage.name, advantage.percent);
    if (!advantage.otherwise) {
        return text + '\n';
    }
    return fmt::format("{}; with refreshes at other moments {:.1f} to {:.1f} %{}\n", text,
                       advantage.otherwise->first, advantage.otherwise->second,
                       advantage.by_chance() ? ": by chance" : "");
}

Json in_json(const Advantage& advantage) {
    Json json{{"over", advantage.over},
              {"name", advantage.name},
              {"percent", advantage.percent},
              {"by_chance", advantage.by_chance()}};
    if (advantage.otherwise) {
        json["least_percent"] = advantage.otherwise->first;
        json["most_percent"] = advantage.otherwise->second;
    }
    return json;
}

}  // namespace

std::string to_table(const TuneResult& result) {
    const std::span shown(result.trials.data(), std::min(kShown, result.trials.size()));
    std::size_t width = kNarrowest;
    for (const Trial& trial : shown) {
        width = std::max(width, trial.candidate.name.size());
    }
    std::string text =
        count_of(result) + fmt::format("\n{:<{}} {:>14} {:>8} {:>10} {:>10} {:>9}  {}\n", "mapping",
                                       width, "time us", "TOPS", "compute us", "memory us",
                                       "DRAM MB", "bottleneck");
    for (const Trial& trial : shown) {
        text += row_of(trial, width);
    }
    const Trial& winner = result.winner();
    text += fmt::format("\nwhy {} wins: its bottleneck is '{}'\n", winner.candidate.name,
                        winner.bottleneck);
    text += rival(result, "the least kernel time",
                  [](const TuneCandidate& c) { return c.bounds.compute_ns; });
    if (winner.candidate.bounds.dram_bytes > 0) {
        text += rival(result, "the least DRAM traffic",
                      [](const TuneCandidate& c) { return c.bounds.dram_bytes; });
    }
    for (const Advantage& advantage : result.advantages) {
        text += advantage_text(advantage);
    }
    text += result.reservation.empty() ? "" : fmt::format("  {}\n", result.reservation);
    return text + proof_of(result) + '\n' + yaml_of(winner.candidate.described()) + result.command +
           '\n' + saturation_text(result);
}

Json to_json(const TuneResult& result) {
    const auto all = [](const auto& items) {
        Json list = Json::array();
        for (const auto& item : items) {
            list.push_back(in_json(item));
        }
        return list;
    };
    Json json{{"mappings", result.mappings},
              {"ruled_out", result.ruled_out},
              {"left", result.left},
              {"interrupted", result.interrupted},
              {"most_percent_faster", result.most_percent_faster()},
              {"command", result.command},
              {"reservation", result.reservation},
              {"advantages", all(result.advantages)},
              {"trials", all(result.trials)}};
    json["shorter_k_mt"] = all(result.shorter);
    json["saturated"] =
        in_json(result.saturated ? result.shorter[*result.saturated] : result.winner());
    return json;
}

}  // namespace tilesim::sim::explore
