// The subcommands, each in a file of its own: what they do stands in the folders below. CLI11 takes
// the compiler seconds in every folder that reads it: most options are defined here, and only here.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace tilesim::sim::trace {
struct TraceOptions;
}

namespace tilesim::sim::commands {

// The options of `run` that write traces.
void add_trace_options(CLI::App& command, trace::TraceOptions& options);

// Each adds its subcommand to `app`; when that one is called, its exit code stands in `exit_code`.
void add_sweep(CLI::App& app, std::optional<int>& exit_code);
void add_store_commands(CLI::App& app, std::optional<int>& exit_code);  // rerun, export, merge
void add_tune(CLI::App& app, std::optional<int>& exit_code);
void add_report(CLI::App& app, std::optional<int>& exit_code);
void add_compare(CLI::App& app, std::optional<int>& exit_code);
void add_calibrate(CLI::App& app, std::optional<int>& exit_code);

void add_commands(CLI::App& app, std::optional<int>& exit_code);  // all of them

}  // namespace tilesim::sim::commands
