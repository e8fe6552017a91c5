#include "sim/commands/run_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <thread>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"
#include "sim/commands/finite_range.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/device_table.hpp"
#include "sim/explore/sensitivity.hpp"
#include "sim/explore/size_table.hpp"
#include "sim/result_json.hpp"
#include "sim/scenario.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

namespace tilesim::sim::commands {

using namespace explore;

using arch::base::config::ConfigError;

void ManyRuns::add_to(CLI::App& command) {
    command_ = &command;
    processes = std::max(1U, std::thread::hardware_concurrency());
    CLI::Option* const varied =
        command.add_flag("--sensitivity", sensitive,
                         "vary each number of the device, rank what the time depends on");
    command.add_option("--percent", percent, "of --sensitivity [10]")
        ->check(finite_range(0.01, 90))
        ->needs(varied);
    // Not CLI11's list: that would take the scenario file for a device too.
    CLI::Option* const on_each =
        command.add_option("--devices", devices, "run on each: a,b,c")
            ->check([](const std::string& names) {
                return names.empty() ? "must be names with a comma between" : "";
            });
    command.add_option("--rows", rows, "of --devices: rows of A, 1,16,256: who is fastest where");
    command
        .add_option("--search", search,
                    "of --devices: seconds to look for each one's best mapping [5]; 0: the "
                    "scenario's, or the default")
        ->check(finite_range(0, 1e6))
        ->needs(on_each);
    command.add_option("--jobs", processes, "processes of --sensitivity and --devices")
        ->check(CLI::Range(1, 4096));
}

namespace {

// What stands between commas; an empty text lists nothing, an empty last entry is one too.
std::vector<std::string> entries_of(const std::string& text) {
    std::vector<std::string> entries;
    std::istringstream list(text.empty() ? text : text + ",");
    for (std::string entry; std::getline(list, entry, ',');) {
        entries.push_back(entry);
    }
    return entries;
}

// Throws ConfigError for a name that is empty, stands twice or is no device.
std::vector<std::string> device_names(const std::string& text, const std::string& scenario) {
    std::vector<std::string> names;
    for (const std::string& name : entries_of(text)) {
        if (name.empty()) {
            throw ConfigError(
                fmt::format("--devices {}: must be names with a comma between", text));
        }
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            throw ConfigError(fmt::format("--devices {}: '{}' is named twice", text, name));
        }
        try {
            workloads::catalogue::load_device(workloads::named_in(scenario, name), {});
        } catch (const ConfigError& error) {
            throw ConfigError(fmt::format("--devices {}: {}", text, error.what()));
        }
        names.push_back(name);
    }
    return names;
}

std::vector<std::int64_t> row_counts(const std::string& text) {
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    std::vector<std::int64_t> rows;
    for (const std::string& entry : entries_of(text)) {
        const auto parsed = arch::base::config::parse_integer(entry);
        const auto* count = std::get_if<std::int64_t>(&parsed);
        if (count == nullptr || *count < 1 || *count > kMost) {
            throw ConfigError(
                fmt::format("--rows {}: must be numbers of 1..{} with a comma between, got '{}'",
                            text, kMost, entry));
        }
        if (std::find(rows.begin(), rows.end(), *count) != rows.end()) {
            throw ConfigError(fmt::format("--rows {}: {} stands twice", text, *count));
        }
        rows.push_back(*count);
    }
    return rows;
}

}  // namespace

// What neither a table of devices nor one of sensitivities would have: files of the run, traces.
void ManyRuns::refuse_options_of_one_run(const std::string& format) const {
    constexpr std::string_view kTheirs[] = {
        "--set",     "--kernels", "--functional", "--sampled", "--format", "--sensitivity",
        "--percent", "--devices", "--rows",       "--search",  "--jobs"};
    const char* const many = sensitive ? "--sensitivity" : "--devices";
    for (const CLI::Option* option : command_->get_options()) {
        const std::string name = option->get_name();
        if (option->count() > 0 && name.starts_with("-") &&
            std::find(std::begin(kTheirs), std::end(kTheirs), name) == std::end(kTheirs)) {
            throw ConfigError(fmt::format("{} is of one run: leave out {}", name, many));
        }
    }
    if (format == "csv") {
        throw ConfigError(fmt::format("--format csv: {} has table and json", many));
    }
}

int ManyRuns::run(const std::string& file, const Settings& overrides,
                  const std::string& format) const {
    const Job base{scenario_text(file), file, overrides};
    const bool json = format == "json";
    if (sensitive && !devices.empty()) {
        throw ConfigError("--sensitivity is of one device: leave out --devices");
    }
    if (!rows.empty() && devices.empty()) {
        throw ConfigError("--rows needs --devices");
    }
    refuse_options_of_one_run(format);
    if (sensitive) {
        const SensitivityResult result = sensitivity(base, percent, processes);
        print(json ? json_text(to_json(result), 2) + "\n" : to_table(result));
        return kFine;
    }
    const std::vector<std::string> names = device_names(devices, file);
    check_own_mapping(base);
    if (const auto sizes = sizes_of(base, row_counts(rows)); !sizes.empty()) {
        const SizeTable table = run_sizes(sizes, names, {search, processes});
        print(json ? json_text(to_json(table), 2) + "\n" : to_table(table));
        return table.complete() ? kFine : kBadInput;
    }
    const std::vector<BestRun> runs = run_on_devices(base, names, {search, processes});
    print(json ? json_text(to_json(runs), 2) + "\n" : to_table(runs));
    return runs.front().run.good() ? kFine : kBadInput;
}

}  // namespace tilesim::sim::commands
