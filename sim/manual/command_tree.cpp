#include "sim/manual/command_tree.hpp"

#include <CLI/CLI.hpp>

namespace tilesim::sim::manual {

namespace {

// CLI11 keeps the choices of IsMember in the type's name: "TEXT:{table,json}".
std::vector<std::string> choices_of(const std::string& type) {
    const std::size_t open = type.find('{');
    if (open == std::string::npos) {
        return {};
    }
    return CLI::detail::split(type.substr(open + 1, type.find('}', open) - open - 1), ',');
}

Option option_of(const CLI::Option& option) {
    Option result;
    for (const std::string& name : option.get_snames()) {
        result.names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        result.names.push_back("--" + name);
    }
    result.description = option.get_description();
    result.required = option.get_required();
    if (option.get_items_expected_max() == 0) {
        return result;
    }
    result.choices = choices_of(option.get_type_name());
    result.argument = result.names.empty() ? option.get_name(true) : "VALUE";
    return result;
}

}  // namespace

Command command_tree(const CLI::App& app) {
    Command command{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        command.options.push_back(option_of(*option));
    }
    for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
        command.commands.push_back(command_tree(*child));
    }
    return command;
}

}  // namespace tilesim::sim::manual
