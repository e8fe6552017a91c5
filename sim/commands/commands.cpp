#include "sim/commands/commands.hpp"

namespace tilesim::sim::commands {

void add_commands(CLI::App& app, std::optional<int>& exit_code) {
    add_sweep(app, exit_code);
    add_store_commands(app, exit_code);
    add_tune(app, exit_code);
    add_report(app, exit_code);
    add_compare(app, exit_code);
    add_calibrate(app, exit_code);
}

}  // namespace tilesim::sim::commands
