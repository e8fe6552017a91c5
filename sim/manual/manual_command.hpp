// `tilesim completion` and `tilesim man`.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace tilesim::sim::manual {

// Adds both to the program's commands; they describe `app` as it is when they run. When one has
// run, `exit_code` is set.
void add_manual(CLI::App& app, std::optional<int>& exit_code);

}  // namespace tilesim::sim::manual
