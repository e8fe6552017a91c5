#include "validation/validate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "arch/base/config.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/write_file.hpp"
#include "validation/suite.hpp"

namespace tilesim::validation {

namespace {

struct ValidateArguments {
    std::string suite = "npu";
    std::string format = "table";
    std::string rows;
    bool tighten = false;
    bool residuals = false;
    std::size_t jobs = std::max(1U, std::thread::hardware_concurrency());
};

int validate(const ValidateArguments& arguments) {
    const SuiteResult result = run_suite(arguments.suite, arguments.jobs, arguments.rows);
    if (result.rows.empty()) {
        sim::complain(fmt::format("--rows {}: no row of {} has it in its name", arguments.rows,
                                  arguments.suite));
        return sim::kBadInput;
    }
    sim::print(arguments.format == "json"  ? to_json(result).dump(2) + "\n"
               : arguments.format == "csv" ? to_csv(result)
                                           : to_table(result));
    if (arguments.tighten) {
        sim::write_file(bounds_file(arguments.suite),
                        to_csv(tightened(result.bounds, result.rows), result.rows));
    }
    if (arguments.residuals) {
        const std::string residuals = residuals_csv(result);
        if (residuals.empty()) {
            throw arch::base::config::ConfigError(fmt::format(
                "--residuals: bands are made of none of the rows of {}", arguments.suite));
        }
        sim::write_file(residuals_file(arguments.suite), residuals);
    }
    for (const std::string& broken : result.check.broken) {
        sim::complain(broken);
    }
    return result.within_targets && result.check.broken.empty() ? sim::kFine : sim::kCheckFailed;
}

}  // namespace

void add_validate(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<ValidateArguments>();
    CLI::App* command = app.add_subcommand("validate", "predicted against measured");
    command->add_option("suite", arguments->suite, "default: npu")
        ->check(CLI::IsMember(suite_names()));
    command->add_option("--format", arguments->format, "table, json or csv")
        ->check(CLI::IsMember({"table", "json", "csv"}));
    command->add_option("--jobs", arguments->jobs, "processes [one a processor]")
        ->check(CLI::Range(1, 4096));
    CLI::Option* rows =
        command->add_option("--rows", arguments->rows, "only rows whose name holds this text");
    command
        ->add_flag("--tighten", arguments->tighten,
                   "write the suite's bounds anew, none of them wider than before")
        ->excludes(rows);
    command
        ->add_flag("--residuals", arguments->residuals,
                   "write what the suite's rows are off by anew: bands are made of it")
        ->excludes(rows);
    command->callback([arguments, &exit_code] { exit_code = validate(*arguments); });
}

}  // namespace tilesim::validation
