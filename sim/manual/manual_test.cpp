#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "arch/base/shell_testing.hpp"
#include "sim/manual/command_tree.hpp"
#include "sim/manual/completion.hpp"
#include "sim/manual/man_page.hpp"

namespace tilesim::sim::manual {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Command small_tree() {
    CLI::App app{"a program", "prog"};
    CLI::App* command = app.add_subcommand("go", "goes somewhere");
    static std::string text;  // CLI11 keeps references
    static bool flag = false;
    command->add_option("file", text, "where to")->required();
    command->add_option("-f,--format", text, "how to say it")->check(CLI::IsMember({"a", "b"}));
    command->add_flag("--quiet", flag, "say nothing");
    command->footer(".examples begin with a dot");
    return command_tree(app);
}

// Writes `text` to a file of the test's own.
std::string file_with(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() / name;
    std::ofstream{path} << text;
    return path.string();
}

// The words bash offers for the last of `words`.
std::string offered(const std::string& words, int position) {
    const std::string script = file_with("tilesim_completion.bash", bash_completion(small_tree()));
    return arch::base::shell("bash -c '. " + script + "; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                             std::to_string(position) + "; _prog; echo ${COMPREPLY[*]}'")
        .text;
}

TEST(CommandTree, KnowsChoicesFlagsAndPositionals) {
    const Command go = small_tree().commands.at(0);
    EXPECT_EQ(go.options.at(1).argument, "file");
    EXPECT_THAT(go.options.at(1).names, IsEmpty());
    EXPECT_THAT(go.options.at(2).choices, ElementsAre("a", "b"));
    EXPECT_EQ(go.options.at(3).argument, "");
}

TEST(BashCompletion, OffersCommandsOptionsAndChoices) {
    EXPECT_THAT(offered("prog g", 1), HasSubstr("go"));
    EXPECT_EQ(offered("prog go --q", 2), "--quiet\n");
    EXPECT_EQ(offered("prog go --format \"\"", 3), "a b\n");
}

TEST(ZshCompletion, DescribesOptions) {
    EXPECT_THAT(zsh_completion(small_tree()), HasSubstr("--format[how to say it]:value:(a b)"));
}

TEST(ManPage, ReadsWithoutAComplaint) {
    const std::string page =
        file_with("tilesim_page.1", man_page(small_tree().commands.at(0), "prog-go"));
    EXPECT_EQ(arch::base::shell("man -l --warnings -E UTF-8 " + page + " 2>&1 > /dev/null").text,
              "");
    const std::string shown = arch::base::shell("man -l " + page + " 2>&1 | col -b").text;
    EXPECT_THAT(shown, HasSubstr("goes somewhere"));
    EXPECT_THAT(shown, HasSubstr(".examples begin with a dot"));
}

}  // namespace
}  // namespace tilesim::sim::manual
