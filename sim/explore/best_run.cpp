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

// A key that no reader knows is a mistake on every device; a mapping of another machine is none.
bool fits(const Job& job) {
    try {
        parse_scenario(job.text, job.file, job.overrides);
        return true;
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        if (text.find("unknown key") != text.npos) {
            throw;
        }
        return false;
    }
}

Job on_device(Job job, const std::string& device) {
    std::erase_if(job.overrides, [](const auto& setting) { return setting.first == "device"; });
    job.overrides.emplace_back("device", device);
    return fits(job) ? job : without_mapping(std::move(job));
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
    Job winner = without_mapping(job);
    const Settings settings = found.winner().candidate.settings();
    winner.overrides.insert(winner.overrides.end(), settings.begin(), settings.end());
    return winner;
}

}  // namespace

BestRun best_run(const Job& base, const std::string& device, const SearchEffort& effort) {
    BestRun best;
    best.device = device;
    Job job = on_device(base, device);
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
