// The subcommands that explore: many runs, and what is made of their results. Each command is a
// file of its own.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace tilesim::sim::explore {

// Each adds its subcommand to `app`; when that one is called, its exit code stands in `exit_code`.
void add_sweep(CLI::App& app, std::optional<int>& exit_code);
void add_store_commands(CLI::App& app, std::optional<int>& exit_code);  // rerun, export, merge
void add_tune(CLI::App& app, std::optional<int>& exit_code);

void add_commands(CLI::App& app, std::optional<int>& exit_code);  // all of them

}  // namespace tilesim::sim::explore
