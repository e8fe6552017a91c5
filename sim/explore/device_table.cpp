#include "sim/explore/device_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

std::vector<BestRun> run_on_devices(const Job& base, const std::vector<std::string>& devices,
                                    const SearchEffort& effort) {
    std::vector<BestRun> runs;
    for (const std::string& device : devices) {
        runs.push_back(best_run(base, device, effort));
    }
    // What is wrong with the scenario whatever the device is said once.
    if (std::all_of(runs.begin(), runs.end(), [&](const BestRun& each) {
            return each.run.status == "invalid" && each.run.error == runs.front().run.error;
        })) {
        throw arch::base::config::ConfigError(runs.front().run.error);
    }
    std::stable_sort(runs.begin(), runs.end(), [](const BestRun& a, const BestRun& b) {
        const auto key = [](const BestRun& best) {
            return std::pair{!best.run.good(), best.run.result.value("time_ns", 0.0)};
        };
        return key(a) < key(b);
    });
    return runs;
}

std::string to_table(const std::vector<BestRun>& runs) {
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    std::string text = fmt::format("{:<22} {:>12} {:>9} {:>9} {:>9}  {}\n", "device", "time us",
                                   "TOPS", "GB/s", "slower", "bottleneck");
    for (const BestRun& run : runs) {
        const auto& result = run.run.result;
        if (!run.run.good()) {
            const std::string& error = run.run.error;
            text += fmt::format("{:<22} {}: {}\n", run.device, run.run.status,
                                error.substr(0, error.find('\n')));
            continue;
        }
        const double time = result["time_ns"];
        const double bandwidth = result["memory"].value("gb_per_s", 0.0);
        text += fmt::format("{:<22} {:>12.3f} {:>9.3f} {:>9} {:>8.2f}x  {}\n", run.device,
                            time / kNanosecondsPerMicrosecond, result.value("tops", 0.0),
                            bandwidth > 0 ? fmt::format("{:.2f}", bandwidth) : "-",
                            time / runs[0].run.result["time_ns"].get<double>(),
                            result.value("bottleneck", ""));
    }
    for (const BestRun& run : runs) {
        if (run.run.good()) {
            text += fmt::format("{}: {}{}\n  {}\n", run.device,
                                run.mapping.empty() ? "no mapping" : run.mapping,
                                run.search.empty() ? "" : " (" + run.search + ")", run.command);
        }
    }
    return text + kEnergyNote;
}

nlohmann::ordered_json to_json(const std::vector<BestRun>& runs) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const BestRun& run : runs) {
        list.push_back(to_json(run));
    }
    return list;
}

}  // namespace tilesim::sim::explore
