// `tilesim calibrate`: fits a device's parameters to runs measured on a board.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sim/commands/commands.hpp"
#include "sim/compare/calibration.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::commands {

using namespace compare;

namespace {

struct CalibrateArguments {
    std::string device, against, out, scenario;
    std::vector<std::string> fit;
    std::string format = "table";
    std::size_t processes = std::max(1U, std::thread::hardware_concurrency());
};

// Before the fit, which takes long.
void check_file(const CalibrateArguments& arguments, const std::vector<MeasuredRun>& runs) {
    std::vector<std::string> read{arguments.against};
    for (const MeasuredRun& run : runs) {
        read.push_back(run.job.file);
    }
    check_output("-o", arguments.out, read);
    if (!arguments.out.empty()) {
        check_output("-o", memory_file_beside(arguments.out), read);
    }
}

int run_calibrate(const CalibrateArguments& arguments) {
    const auto runs = read_measured_runs(arguments.against, arguments.scenario);
    check_file(arguments, runs);
    const Calibration calibration =
        calibrate(arguments.device, parameters_of(arguments.device, arguments.fit), runs,
                  arguments.processes);
    if (!arguments.out.empty()) {
        write_device(calibration, arguments.against, arguments.out);
    }
    print(arguments.format == "json" ? to_json(calibration).dump(2) + "\n" : to_table(calibration));
    return kFine;
}

}  // namespace

void add_calibrate(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<CalibrateArguments>();
    CLI::App* command =
        app.add_subcommand("calibrate", "fit a device's parameters to runs measured on it");
    command->add_option("device", arguments->device, "device to start from")->required();
    command->add_option("--against", arguments->against, "CSV file, a measured run a line")
        ->required();
    command->add_option("-o,--out", arguments->out, "device file to write");
    command->add_option("--scenario", arguments->scenario,
                        "of every run, where the CSV file has no such column");
    // Not CLI11's list: it would take what follows.
    command
        ->add_option("--fit", arguments->fit,
                     "KEY or KEY=LEAST..MOST, once each [those marked as calibrated]")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option("--format", arguments->format, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    command->add_option("--jobs", arguments->processes, "processes [one a processor]")
        ->check(CLI::Range(1, 4096));
    command->callback([arguments, &exit_code] { exit_code = run_calibrate(*arguments); });
}

}  // namespace tilesim::sim::commands
