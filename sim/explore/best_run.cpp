#include "sim/explore/best_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "sim/explore/command_line.hpp"
#include "sim/explore/tuner.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;

namespace {

// Why the scenario cannot be built on its device as it stands; empty: it can. A key that no reader
// knows is a mistake on every device.
std::string refusal(const Job& job) {
    try {
        parse_scenario(job.text, job.file, job.overrides);
        return {};
    } catch (const ConfigError& error) {
        if (std::any_of(error.keys().begin(), error.keys().end(),
                        [](const auto& key) { return key.unknown; })) {
            throw;
        }
        return error.what();
    }
}

// Without the scenario's mapping where it cannot be had there, which `best` then says.
Job on_device(Job job, BestRun& best) {
    std::erase_if(job.overrides, [](const auto& setting) { return setting.first == "device"; });
    job.overrides.emplace_back("device", best.device);
    const std::string reason = refusal(job);
    if (reason.empty()) {
        return job;
    }
    best.search = "not the scenario's: " + reason.substr(0, reason.find('\n'));
    return without_mapping(std::move(job));
}

bool tunable(const Job& job) {
    try {
        tune_space(parse_scenario(job.text, job.file, job.overrides));
        return true;
    } catch (const ConfigError&) {
        return false;
    }
}

// With the mapping the search finds; how it went stands in `best`.
Job searched(const Job& job, const SearchEffort& effort, BestRun& best) {
    TuneOptions options;
    options.jobs = effort.processes;
    options.seconds = effort.seconds;
    options.quiet = true;
    const TuneResult found = tune(job, options);
    const auto tried = found.trials.size();
    best.search = found.most_percent_faster() == 0
                      ? fmt::format("{} mappings, the best of all", found.mappings)
                      : fmt::format("{} of {} mappings tried, none more than {:.1f} % faster",
                                    tried, found.mappings, found.most_percent_faster());
    best.search += found.reservation.empty() ? "" : "; " + found.reservation;
    Job winner = without_mapping(job);
    const Settings settings = found.winner().candidate.settings();
    winner.overrides.insert(winner.overrides.end(), settings.begin(), settings.end());
    return winner;
}

}  // namespace

void check_own_mapping(const Job& base) {
    if (arch::base::config::Document::parse(base.text, base.file).root().has("agents")) {
        throw ConfigError(
            fmt::format("--devices: the agents of {} have devices of their own: set "
                        "agents.NAME.device",
                        base.file));
    }
    const std::string reason = refusal(base);
    if (!reason.empty() && refusal(without_mapping(base)).empty()) {
        throw ConfigError(reason);
    }
}

BestRun best_run(const Job& base, const std::string& device, const SearchEffort& effort) {
    BestRun best;
    best.device = device;
    Job job = on_device(base, best);
    if (effort.seconds > 0 && tunable(job)) {
        try {
            job = searched(job, effort, best);
        } catch (const ConfigError& error) {
            best.run.status = "invalid";
            best.run.error = error.what();
            return best;
        }
    }
    best.run = simulate_all({job}, 1)[0];
    if (best.run.good()) {
        Settings settings = base.overrides;
        std::erase_if(settings, [](const auto& setting) {
            return setting.first == "device" || setting.first.starts_with("mapping");
        });
        settings.emplace_back("device", device);
        if (const auto& mapping = best.run.result["mapping"]; !mapping.empty()) {
            best.mapping = mapping.dump();
            settings.emplace_back("mapping", best.mapping);
        }
        best.command = run_command(base.file, settings);
    }
    return best;
}

nlohmann::ordered_json to_json(const BestRun& best) {
    return {{"device", best.device}, {"status", best.run.status}, {"error", best.run.error},
            {"search", best.search}, {"command", best.command},   {"result", best.run.result}};
}

}  // namespace tilesim::sim::explore
