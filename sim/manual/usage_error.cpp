#include "sim/manual/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"

namespace tilesim::sim::manual {

namespace {

std::string unknown(const std::string& what, const std::string& word,
                    const std::vector<std::string>& known, const std::string& help) {
    return fmt::format("unknown {} '{}'{}; `{} --help` lists all", what, word,
                       arch::base::config::did_you_mean(word, known), help);
}

std::vector<std::string> option_names(const Command& command) {
    std::vector<std::string> names;
    for (const Option& option : command.options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return names;
}

// "--set" of "--set=a"; empty for what is no option.
std::string option_of(const std::string& word) {
    const bool is_option = word.starts_with("--") && word.size() > 2;
    return is_option ? word.substr(0, word.find('=')) : "";
}

}  // namespace

std::string usage_error(const Command& root, const std::vector<std::string>& words,
                        const std::string& otherwise) {
    const auto named = std::find_if(words.begin(), words.end(),
                                    [](const auto& word) { return !word.starts_with('-'); });
    if (named == words.end()) {
        return fmt::format("{}\n`{} --help` lists the commands", otherwise, root.name);
    }
    const auto command = std::find_if(root.commands.begin(), root.commands.end(),
                                      [&](const Command& each) { return each.name == *named; });
    if (command == root.commands.end()) {
        std::vector<std::string> names;
        for (const Command& each : root.commands) {
            names.push_back(each.name);
        }
        return unknown("command", *named, names, root.name);
    }
    const std::string help = fmt::format("{} {}", root.name, command->name);
    const std::vector<std::string> names = option_names(*command);
    for (const std::string& word : words) {
        const std::string option = option_of(word);
        if (!option.empty() && std::find(names.begin(), names.end(), option) == names.end()) {
            return unknown("option", option, names, help);
        }
    }
    return fmt::format("{}\n`{} --help` shows how, with examples", otherwise, help);
}

}  // namespace tilesim::sim::manual
