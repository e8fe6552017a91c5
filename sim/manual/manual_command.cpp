#include "sim/manual/manual_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/manual/completion.hpp"
#include "sim/manual/man_page.hpp"

namespace tilesim::sim::manual {

void add_manual(CLI::App& app, std::optional<int>& exit_code) {
    auto value = std::make_shared<std::string>();
    CLI::App* completion = app.add_subcommand("completion", "print a shell's completion script");
    completion->add_option("shell", *value, "which shell")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
    completion->callback([value, &app, &exit_code] {
        const Command root = command_tree(app);
        print(*value == "bash" ? bash_completion(root) : zsh_completion(root));
        exit_code = kFine;
    });
    CLI::App* man = app.add_subcommand("man", "write the man pages into a folder");
    man->add_option("folder", *value, "an existing folder")->required();
    man->callback([value, &app, &exit_code] {
        write_man_pages(command_tree(app), *value);
        exit_code = kFine;
    });
}

}  // namespace tilesim::sim::manual
