#include "sim/explore/run_options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>
#include <thread>

#include "arch/base/config.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/device_table.hpp"
#include "sim/explore/sensitivity.hpp"

namespace tilesim::sim::explore {

void ManyRuns::add_to(CLI::App& command) {
    processes = std::max(1U, std::thread::hardware_concurrency());
    command.add_flag("--sensitivity", sensitive,
                     "vary each number of the device, rank what the time depends on");
    command.add_option("--percent", percent, "of --sensitivity [10]")
        ->check(CLI::Range(0.01, 90.0));
    // Not CLI11's list: that would take the scenario file for a device too.
    command.add_option("--devices", devices, "run on each: a,b,c");
    command.add_option("--jobs", processes, "processes of --sensitivity and --devices")
        ->check(CLI::Range(1, 4096));
}

int ManyRuns::run(const std::string& file, const Settings& overrides,
                  const std::string& format) const {
    const Job base{arch::base::config::Document::load(file).text(), file, overrides};
    const bool json = format == "json";
    if (sensitive) {
        const SensitivityResult result = sensitivity(base, percent, processes);
        print(json ? to_json(result).dump(2) + "\n" : to_table(result));
        return kFine;
    }
    std::vector<std::string> names;
    std::istringstream list(devices);
    for (std::string name; std::getline(list, name, ',');) {
        names.push_back(name);
    }
    const std::vector<DeviceRun> runs = run_on_devices(base, names, processes);
    print(json ? to_json(runs).dump(2) + "\n" : to_table(runs));
    return runs.front().run.good() ? kFine : kBadInput;
}

}  // namespace tilesim::sim::explore
