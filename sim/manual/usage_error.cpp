#include "sim/manual/usage_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>

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

// CLI11's "--format: xml not in {table,json,csv}" as messages about files have it.
std::string choice_error(const std::string& text) {
    static constexpr std::string_view kNotIn = " not in {";
    const std::size_t colon = text.find(": ");
    const std::size_t at = text.rfind(kNotIn);
    if (colon == text.npos || at == text.npos || at < colon || !text.ends_with('}')) {
        return text;
    }
    std::vector<std::string> known;
    std::istringstream choices(text.substr(at + kNotIn.size()));
    for (std::string choice; std::getline(choices, choice, ',');) {
        known.push_back(choice.substr(0, choice.find('}')));
    }
    const std::string word = text.substr(colon + 2, at - colon - 2);
    return fmt::format("{}: must be one of {}, got '{}'{}", text.substr(0, colon),
                       fmt::join(known, ", "), word, arch::base::config::did_you_mean(word, known));
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
    return fmt::format("{}\n`{} --help` shows how, with examples", choice_error(otherwise), help);
}

}  // namespace tilesim::sim::manual
