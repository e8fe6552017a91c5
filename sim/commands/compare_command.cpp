// `tilesim compare`: a measurement against its prediction.
#include <CLI/CLI.hpp>
#include <memory>

#include "sim/commands/commands.hpp"
#include "sim/commands/finite_range.hpp"
#include "sim/compare/compare.hpp"

namespace tilesim::sim::commands {

void add_compare(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<compare::CompareArguments>();
    CLI::App* command = app.add_subcommand("compare", "a measurement against its prediction");
    command->add_option("file", arguments->file, "scenario file")->required();
    command
        ->add_option(
            "--against", arguments->against,
            "hardware trace (JSON, or raw as the host saved it), timings, or the AMX harness's CSV")
        ->required();
    command->add_option("--set", arguments->settings, "override a key: key.path=value");
    command->add_option("--format", arguments->format, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    command->add_option("--html", arguments->html, "write a page with both timelines");
    command
        ->add_option("--column-shift", arguments->column_shift,
                     "columns the loader has put the design further east [found]")
        ->check(CLI::Range(-127, 127));
    command->add_option("--tolerance", arguments->tolerance, "percent for exit code 0 [5]")
        ->check(finite_range(0, 1000));
    command->callback([arguments, &exit_code] { exit_code = compare::compare(*arguments); });
}

}  // namespace tilesim::sim::commands
