// The command line: parses it, calls the command and turns what went wrong into an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <systemc>

#include "arch/base/check.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program_fault.hpp"
#include "sim/commands/commands.hpp"
#include "sim/commands/run_options.hpp"
#include "sim/console.hpp"
#include "sim/describe.hpp"
#include "sim/exit_code.hpp"
#include "sim/explore/settings.hpp"
#include "sim/explore/sweep_file.hpp"
#include "sim/manual/command_tree.hpp"
#include "sim/manual/examples.hpp"
#include "sim/manual/manual_command.hpp"
#include "sim/manual/usage_error.hpp"
#include "sim/report.hpp"
#include "sim/result_schema.hpp"
#include "sim/schema.hpp"
#include "sim/session/session.hpp"
#include "sim/trace/trace_options.hpp"
#include "sim/version.hpp"
#include "sim/write_file.hpp"
#include "validation/validate_command.hpp"
#include "workloads/npu/mlir/design/design_file.hpp"

namespace {

using namespace tilesim;

using sim::complain;
using sim::print;
using enum sim::ExitCode;

struct Arguments {
    std::string file;
    std::vector<std::string> settings;  // key=value
    std::string format = "table";
    std::string out;
    std::string kernels;
    std::string deadlock_graph;
    bool functional = false;
    bool sampled = false;
    bool of_results = false;
    sim::trace::TraceOptions trace;
    sim::commands::ManyRuns many;
};

sim::explore::Settings overrides_of(const Arguments& arguments) {
    sim::explore::Settings overrides = sim::explore::parse_settings(arguments.settings);
    if (!arguments.kernels.empty()) {
        if (!workloads::npu::mlir::design::is_design_file(arguments.file) &&
            !arch::base::config::Document::load(arguments.file).root().has("design")) {
            throw arch::base::config::ConfigError(
                fmt::format("--kernels: {} is no design", arguments.file));
        }
        overrides.emplace_back("design.kernels_file",
                               std::filesystem::absolute(arguments.kernels).string());
    }
    if (arguments.functional) {
        overrides.emplace_back("run.functional", "on");
    }
    if (arguments.sampled) {
        overrides.emplace_back("run.sampled", "on");
    }
    return overrides;
}

std::string formatted(const workloads::RunResult& result, const std::string& format) {
    if (format == "json") {
        return sim::to_json(result, true).dump(2) + "\n";
    }
    return format == "csv" ? sim::to_csv(result) : sim::to_table(result);
}

void write_folder(const std::string& folder, const sim::Scenario& scenario,
                  const workloads::RunResult& result) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
        throw arch::base::config::IoError(fmt::format("{}: {}", folder, error.message()));
    }
    sim::write_file(folder + "/result.json", sim::to_json(result, false).dump(2) + "\n");
    sim::write_file(folder + "/result.csv", sim::to_csv(result));
    sim::write_file(folder + "/scenario.yaml", scenario.document->resolved());
    if (result.deadlock) {
        sim::write_file(folder + "/deadlock.dot", result.deadlock->graphviz());
    }
}

int run(const Arguments& arguments) {
    if (arguments.many.wanted()) {
        return arguments.many.run(arguments.file, overrides_of(arguments), arguments.format);
    }
    sim::check_folder(arguments.out);
    sim::check_output("--deadlock-graph", arguments.deadlock_graph, {arguments.file});
    arguments.trace.check_files({arguments.file});
    sim::Scenario scenario =
        workloads::npu::mlir::design::is_design_file(arguments.file)
            ? sim::load_scenario(arguments.file, overrides_of(arguments))
            : sim::parse_scenario(sim::explore::scenario_text(arguments.file), arguments.file,
                                  overrides_of(arguments), sim::Advice::NearestMapping);
    if (sim::shows_progress()) {
        scenario.watch([](arch::base::Femtoseconds simulated) {
            constexpr double kNanosecondsPerMillisecond = 1e6;
            sim::show_progress(fmt::format(
                "simulated {:.3f} ms", arch::base::ns_of(simulated) / kNanosecondsPerMillisecond));
        });
    }
    sim::trace::TraceSession trace(arguments.trace);
    const workloads::RunResult result =
        sim::session::run(scenario, trace.listener(), trace.commands());
    if (scenario.run.progress) {
        sim::show_progress("");
    }
    const auto* npu = scenario.device.find<arch::npu::NpuConfig>();
    if (const std::string note = trace.write(result, npu != nullptr ? npu->memory_rows : 0);
        !note.empty()) {
        complain(note);
    }
    if (!arguments.out.empty()) {
        write_folder(arguments.out, scenario, result);
    }
    if (!arguments.deadlock_graph.empty() && result.deadlock) {
        sim::write_file(arguments.deadlock_graph, result.deadlock->graphviz());
    }
    print(formatted(result, arguments.format));
    switch (result.status) {
        case workloads::Status::Ok:
            return kFine;
        case workloads::Status::Mismatch:
            return kCheckFailed;
        case workloads::Status::Deadlock:
            complain(result.deadlock->text());
            return kDeadlock;
        case workloads::Status::TimeLimit:
            complain("the time budget (run.max_time, run.max_wall_time) is exceeded");
            for (const std::string& note : result.notes) {
                complain(note);
            }
            return kBudgetExceeded;
    }
    return kInternal;
}

// What is printed names the device, not what was changed of it.
void print_changes_of_the_device(const Arguments& arguments) {
    std::string settings;
    for (const auto& [key, value] : overrides_of(arguments)) {
        settings += key.starts_with("device.") ? fmt::format(" --set {}={}", key, value) : "";
    }
    if (!settings.empty()) {
        print(fmt::format("# lowered with{}: run it with the same\n", settings));
    }
}

int lower(const Arguments& arguments) {
    print_changes_of_the_device(arguments);
    const sim::Scenario scenario =
        sim::load_scenario(arguments.file, overrides_of(arguments), sim::Advice::NearestMapping);
    for (const sim::AgentCase& agent : scenario.agents) {
        const bool requests = !agent.a_case.device.documents.size();
        print(fmt::format("# agent {}{}\n", agent.name, requests ? ": no program" : ""));
        if (!requests) {
            print(sim::session::Session().lowered_text(agent.a_case));
        }
    }
    if (scenario.agents.empty()) {
        print(sim::session::lowered_text(scenario));
    }
    return kFine;
}

int describe(const Arguments& arguments) {
    print(sim::description(arguments.file, overrides_of(arguments)));
    return kFine;
}

int schema(const Arguments& arguments) {
    const nlohmann::ordered_json schema = arguments.of_results
                                              ? sim::result_schema()
                                              : sim::json_schema(sim::explore::sweep_schema());
    print(schema.dump(2) + "\n");
    return kFine;
}

// Parses the command line and dispatches; CLI11's own exit codes become ours.
int command_line(int argc, char** argv) {
    CLI::App app{"predicts how long a matrix product takes on tiled hardware, and why", "tilesim"};
    app.set_version_flag("--version", std::string{"tilesim "} + sim::kVersion);
    app.require_subcommand(1);
    Arguments arguments;
    const auto add_file = [&arguments](CLI::App* command, const char* what) {
        command->add_option("file", arguments.file, what)->required();
        command->add_option("--set", arguments.settings, "override a key: key.path=value");
        command->add_option("--kernels", arguments.kernels,
                            "for a design (.mlir): file of kernel costs");
    };
    CLI::App* run_command = app.add_subcommand("run", "simulate a scenario");
    add_file(run_command, "scenario file");
    sim::commands::add_trace_options(*run_command, arguments.trace);
    arguments.many.add_to(*run_command);
    run_command->add_flag("--functional", arguments.functional,
                          "move real bytes, check the product");
    run_command->add_flag("--sampled", arguments.sampled,
                          "simulate a few rounds and extrapolate, where that is possible");
    run_command->add_option("--format", arguments.format, "table, json or csv")
        ->check(CLI::IsMember({"table", "json", "csv"}));
    run_command->add_option("--deadlock-graph", arguments.deadlock_graph,
                            "file for the wait-for graph (Graphviz) if the run stands still");
    run_command->add_option("--out", arguments.out,
                            "folder for result.json, result.csv, scenario.yaml");
    CLI::App* lower_command = app.add_subcommand("lower", "print the program a scenario runs");
    add_file(lower_command, "scenario file");
    CLI::App* describe_command = app.add_subcommand("describe", "list every parameter");
    add_file(describe_command, "device name or scenario file");
    app.add_subcommand("schema", "print the JSON Schema of the files")
        ->add_flag("--result", arguments.of_results,
                   "of a run's result instead (`run --format json`), with units");
    std::optional<int> explored;
    sim::commands::add_commands(app, explored);
    validation::add_validate(app, explored);
    sim::manual::add_manual(app, explored);
    sim::manual::add_examples(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help, --version
            std::ostringstream text;
            app.exit(error, text, text);
            print(text.str());
            return kFine;
        }
        complain(sim::manual::usage_error(sim::manual::command_tree(app), {argv + 1, argv + argc},
                                          error.what()));
        return kBadInput;
    }
    if (explored) {
        return *explored;
    }
    if (*run_command) {
        return run(arguments);
    }
    if (*lower_command) {
        return lower(arguments);
    }
    if (*describe_command) {
        return describe(arguments);
    }
    return schema(arguments);
}

}  // namespace

// SystemC's own main prints a banner unless told not to.
int main(int argc, char** argv) {
    ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

// Called by libsystemc, from another shared object.
__attribute__((visibility("default"))) int sc_main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return command_line(argc, argv);
    } catch (const arch::base::config::ConfigError& error) {
        complain(error.what());
        return kBadInput;
    } catch (const arch::npu::program::ProgramFault& fault) {
        complain(fmt::format("fault in the simulated program: {}", fault.what()));
        return kDeadlock;
    } catch (const arch::base::config::IoError& error) {
        complain(error.what());
        return kInputOutput;
    } catch (const std::exception& error) {
        complain(fmt::format("internal error: {}", error.what()));
        return kInternal;
    }
}
