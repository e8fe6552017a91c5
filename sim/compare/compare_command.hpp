// `tilesim compare`: a measurement against its prediction.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace tilesim::sim::compare {

// Adds the subcommand; when it is called, its exit code stands in `exit_code`.
void add_compare(CLI::App& app, std::optional<int>& exit_code);
void add_calibrate(CLI::App& app, std::optional<int>& exit_code);

}  // namespace tilesim::sim::compare
