#include "validation/validate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/report.hpp"
#include "validation/suite.hpp"

namespace tilesim::validation {

namespace {

struct ValidateArguments {
    std::string suite = "npu";
    std::string format = "table";
    bool tighten = false;
};

int validate(const ValidateArguments& arguments) {
    const SuiteResult result = run_suite(arguments.suite);
    sim::print(arguments.format == "json"  ? to_json(result).dump(2) + "\n"
               : arguments.format == "csv" ? to_csv(result)
                                           : to_table(result));
    if (arguments.tighten) {
        sim::write_file(bounds_file(arguments.suite),
                        to_csv(tightened(result.bounds, result.rows), result.rows));
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
    command->add_flag("--tighten", arguments->tighten,
                      "write the suite's bounds anew, none of them wider than before");
    command->callback([arguments, &exit_code] { exit_code = validate(*arguments); });
}

}  // namespace tilesim::validation
