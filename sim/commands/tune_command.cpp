// `tilesim tune`: the best mapping of a scenario.
#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "sim/commands/commands.hpp"
#include "sim/commands/finite_range.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/settings.hpp"
#include "sim/explore/sweep_file.hpp"
#include "sim/explore/tuner.hpp"
#include "sim/result_json.hpp"

namespace tilesim::sim::commands {

using namespace explore;

namespace {

struct TuneArguments {
    std::string file;
    std::vector<std::string> settings;
    std::string format = "table";
    TuneOptions options;
};

int run_tune(const TuneArguments& arguments) {
    const Job job{scenario_text(arguments.file), arguments.file,
                  parse_settings(arguments.settings)};
    const TuneResult result = tune(job, arguments.options);
    print(arguments.format == "json" ? json_text(to_json(result), 2) + "\n" : to_table(result));
    return kFine;
}

}  // namespace

void add_tune(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<TuneArguments>();
    arguments->options.jobs = std::max(1U, std::thread::hardware_concurrency());
    CLI::App* command = app.add_subcommand("tune", "search the best mapping of a scenario");
    command->add_option("file", arguments->file, "scenario file")->required();
    command->add_option("--set", arguments->settings, "override a key: key.path=value");
    command->add_option("--jobs", arguments->options.jobs, "worker processes [one a processor]")
        ->check(CLI::Range(1, 4096));
    command
        ->add_option("--simulations", arguments->options.simulations, "at most so many [no limit]")
        ->check(CLI::Range(1, 1'000'000));
    command->add_option("--time", arguments->options.seconds, "seconds for the search, about [45]")
        ->check(finite_range(1, 1e6));
    command->add_flag("--exact", arguments->options.exact, "simulate every mapping whole");
    command
        ->add_flag("--all", arguments->options.all,
                   "simulate every mapping whole, rule none out, however long that takes")
        ->excludes("--time", "--simulations");
    command
        ->add_option("--spread", arguments->options.spread,
                     "as --all, but only so many, evenly spread over them")
        ->check(CLI::Range(1, 1'000'000))
        ->excludes("--time", "--simulations", "--all")
        ->each([arguments](const std::string&) { arguments->options.all = true; });
    command->add_option("--format", arguments->format, "table or json")
        ->check(CLI::IsMember({"table", "json"}));
    command->add_flag("--quiet", arguments->options.quiet, "no progress");
    command->callback([arguments, &exit_code] { exit_code = run_tune(*arguments); });
}

}  // namespace tilesim::sim::commands
