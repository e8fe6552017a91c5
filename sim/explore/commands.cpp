#include "sim/explore/commands.hpp"

namespace tilesim::sim::explore {

void add_commands(CLI::App& app, std::optional<int>& exit_code) {
    add_sweep(app, exit_code);
    add_store_commands(app, exit_code);
    add_tune(app, exit_code);
}

}  // namespace tilesim::sim::explore
