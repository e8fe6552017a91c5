// `tilesim validate`: the reference rows of a suite against the model.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace tilesim::validation {

// Adds the subcommand; when it is called, its exit code stands in `exit_code`.
void add_validate(CLI::App& app, std::optional<int>& exit_code);

}  // namespace tilesim::validation
