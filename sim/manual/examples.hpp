// What `--help` and the man page of a command show at their end.
#pragma once

namespace CLI {
class App;
}

namespace tilesim::sim::manual {

// Gives every command of the program its examples. Each can be run where configs/ lies, in this
// order.
void add_examples(CLI::App& app);

}  // namespace tilesim::sim::manual
