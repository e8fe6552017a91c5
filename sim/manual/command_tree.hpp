// The command line as data, taken from its own definition: what man pages and completions are
// written from.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilesim::sim::manual {

struct Option {
    std::vector<std::string> names;  // "--set", "-o"; none for a positional argument
    std::string argument;            // what its value is called; empty for a flag
    std::string description;
    std::vector<std::string> choices;  // the only values it takes; empty: any
    bool required = false;
};

struct Command {
    std::string name;
    std::string description;
    std::string footer;  // examples
    std::vector<Option> options;
    std::vector<Command> commands;
};

Command command_tree(const CLI::App& app);

}  // namespace tilesim::sim::manual
