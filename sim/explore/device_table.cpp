#include "sim/explore/device_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "sim/explore/yaml_block.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

namespace {

bool fits(const Job& job) {
    try {
        parse_scenario(job.text, job.file, job.overrides);
        return true;
    } catch (const arch::base::config::ConfigError&) {
        return false;
    }
}

}  // namespace

DeviceJob on_device(const Job& base, const std::string& device) {
    DeviceJob on{base, false};
    std::erase_if(on.job.overrides, [](const auto& setting) { return setting.first == "device"; });
    on.job.overrides.emplace_back("device", device);
    if (!fits(on.job)) {
        on.own_mapping = true;
        on.job.text = without_block(on.job.text, "mapping");
        std::erase_if(on.job.overrides,
                      [](const auto& setting) { return setting.first.starts_with("mapping."); });
    }
    return on;
}

std::vector<DeviceRun> run_on_devices(const Job& base, const std::vector<std::string>& devices,
                                      std::size_t processes) {
    std::vector<DeviceRun> runs;
    std::vector<Job> jobs;
    for (const std::string& device : devices) {
        DeviceJob on = on_device(base, device);
        runs.push_back({device, on.own_mapping, {}});
        jobs.push_back(std::move(on.job));
    }
    const std::vector<Simulated> results = simulate_all(jobs, processes);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].run = results[i];
    }
    std::stable_sort(runs.begin(), runs.end(), [](const DeviceRun& a, const DeviceRun& b) {
        const auto key = [](const DeviceRun& run) {
            return std::pair{!run.run.good(), run.run.result.value("time_ns", 0.0)};
        };
        return key(a) < key(b);
    });
    return runs;
}

std::string to_table(const std::vector<DeviceRun>& runs) {
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    std::string text = fmt::format("{:<22} {:>12} {:>9} {:>9} {:>9}  {}\n", "device", "time us",
                                   "TOPS", "GB/s", "slower", "bottleneck");
    for (const DeviceRun& run : runs) {
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
    for (const DeviceRun& run : runs) {
        if (run.own_mapping && run.run.good()) {
            text += fmt::format("{}: the scenario's mapping does not fit; chosen: {}\n", run.device,
                                run.run.result["mapping"].dump());
        }
    }
    return text + kEnergyNote;
}

nlohmann::ordered_json to_json(const std::vector<DeviceRun>& runs) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const DeviceRun& run : runs) {
        list.push_back({{"device", run.device},
                        {"status", run.run.status},
                        {"error", run.run.error},
                        {"own_mapping", run.own_mapping},
                        {"result", run.run.result}});
    }
    return list;
}

}  // namespace tilesim::sim::explore
