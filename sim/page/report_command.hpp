// `tilesim report`.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace tilesim::sim::page {

// Adds the subcommand; when it is called, its exit code stands in `exit_code`.
void add_report(CLI::App& app, std::optional<int>& exit_code);

}  // namespace tilesim::sim::page
