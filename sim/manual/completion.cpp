#include "sim/manual/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/algorithm/string/replace.hpp>
#include <vector>

namespace tilesim::sim::manual {

namespace {

std::vector<std::string> words_after(const Command& command) {
    std::vector<std::string> words;
    for (const Command& child : command.commands) {
        words.push_back(child.name);
    }
    for (const Option& option : command.options) {
        words.insert(words.end(), option.names.begin(), option.names.end());
        if (option.names.empty()) {
            words.insert(words.end(), option.choices.begin(), option.choices.end());
        }
    }
    return words;
}

// Lines of a bash `case` over "command option": what the option takes; a file where there is
// nothing to choose from.
std::string bash_choices(const Command& command) {
    std::string text;
    for (const Option& option : command.options) {
        for (const std::string& name : option.names) {
            if (!option.argument.empty()) {
                text += fmt::format("        '{} {}') words='{}' ;;\n", command.name, name,
                                    fmt::join(option.choices, " "));
            }
        }
    }
    return text;
}

// What _arguments reads itself must be escaped in a description.
std::string zsh(std::string text) {
    for (const char* special : {"\\", "'", "[", "]", ":"}) {
        boost::replace_all(text, special,
                           *special == '\'' ? std::string{"'\\''"} : std::string{"\\"} + special);
    }
    return text;
}

std::string zsh_values(const Option& option) {
    return option.choices.empty() ? "_files" : fmt::format("({})", fmt::join(option.choices, " "));
}

std::string zsh_arguments(const Command& command) {
    std::string text = "_arguments";
    for (const Option& option : command.options) {
        for (const std::string& name : option.names) {
            text += fmt::format(" '*{}[{}]", name, zsh(option.description));
            text += option.argument.empty() ? "'" : fmt::format(":value:{}'", zsh_values(option));
        }
        if (option.names.empty()) {
            text += fmt::format(" '*:{}:{}'", zsh(option.description), zsh_values(option));
        }
    }
    return text + (command.commands.empty() ? " '*:file:_files'" : "");
}

}  // namespace

std::string bash_completion(const Command& root) {
    std::string choices;
    std::string words =
        fmt::format("        '') words='{}' ;;\n", fmt::join(words_after(root), " "));
    for (const Command& command : root.commands) {
        choices += bash_choices(command);
        words += fmt::format("        '{}') words='{}' ;;\n", command.name,
                             fmt::join(words_after(command), " "));
    }
    return fmt::format(R"(# bash completion for {0}
_{0}() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command="" words=""
    [ "$COMP_CWORD" -gt 1 ] && command=${{COMP_WORDS[1]}}
    case "$command" in
{2}    esac
    case "$command $previous" in
{1}    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ -z $command || $current == -* || ${{#COMPREPLY[@]}} -gt 0 ]] || {{
        compopt -o filenames 2> /dev/null
        COMPREPLY=($(compgen -f -- "$current"))
    }}
}}
complete -F _{0} {0}
)",
                       root.name, choices, words);
}

std::string zsh_completion(const Command& root) {
    std::string cases;
    std::string commands;
    for (const Command& child : root.commands) {
        commands += fmt::format(" '{}:{}'", child.name, zsh(child.description));
        cases += fmt::format("        {}) {} ;;\n", child.name, zsh_arguments(child));
    }
    return fmt::format(R"(#compdef {0}
# zsh completion for {0}
local -a commands=({1})
_arguments -C '1:command:->command' '*::argument:->argument'
case $state in
    command) _describe command commands ;;
    argument)
        case $words[1] in
{2}        esac
        ;;
esac
)",
                       root.name, commands, cases);
}

}  // namespace tilesim::sim::manual
