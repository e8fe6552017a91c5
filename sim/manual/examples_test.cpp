// Every command shows two examples of itself, and each of them does what it should.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "arch/base/shell_testing.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::sim::manual {
namespace {

using Output = arch::base::ShellOutput;  // stdout and stderr

// In a folder with what the examples read.
class Examples : public testing::Test {
  protected:
    void SetUp() override {
        const std::filesystem::path source{TILESIM_SOURCE_DIR};
        std::filesystem::create_directory_symlink(source / "configs", folder_.path() / "configs");
        std::ofstream(folder_.path() / "runs.csv")
            << "workload.core_kernel.k,time_us\n64,1.5\n128,2.6\n192,3.7\n232,4.4\n";
        const std::string path = std::string{TILESIM_BINARY_DIR} + ":" + path_before();
        ::setenv("PATH", path.c_str(), 1);
    }
    static std::string path_before() {
        const char* path = std::getenv("PATH");
        return path == nullptr ? "" : path;
    }
    Output shell(const std::string& command) const {
        std::ofstream(folder_.path() / "try") << "cd " << folder_.path().string() << "\n"
                                              << command << "\n";
        const std::string script = "bash " + (folder_.path() / "try").string() + " 2>&1";
        return arch::base::shell(script);
    }

    const arch::base::TemporaryFolder folder_;
};

// The lines of a text after the one that is `head`, without the spaces they begin with; from there
// up to an empty line.
std::vector<std::string> lines_after(const std::string& text, const std::string& head) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    bool after = false;
    for (std::string line; std::getline(in, line);) {
        if (after && line.empty()) {
            break;
        }
        if (after) {
            lines.push_back(line.substr(line.find_first_not_of(' ')));
        }
        after = after || line == head;
    }
    return lines;
}

TEST_F(Examples, OfEveryCommandRun) {
    const std::vector<std::string> commands =
        lines_after(shell("tilesim --help").text, "Subcommands:");
    ASSERT_GT(commands.size(), 10U);
    for (const std::string& line : commands) {
        const std::string name = line.substr(0, line.find(' '));
        const std::vector<std::string> examples =
            lines_after(shell("tilesim " + name + " --help").text, "Examples:");
        EXPECT_EQ(examples.size(), 2U) << name;
        for (const std::string& example : examples) {
            EXPECT_NE(example.find("tilesim " + name), example.npos) << example;
            const Output output = shell(example);
            EXPECT_EQ(output.code, 0) << example << "\n" << output.text;
        }
    }
}

TEST_F(Examples, MistypedCommandsOptionsAndFilesAreToldTheNearest) {
    const struct {
        const char* command;
        int code;
        const char* said;
    } cases[] = {
        {"tilesim runn x.yaml", 2, "did you mean 'run'?"},
        {"tilesim run configs/programs/add_one.yaml --sett a=b", 2, "did you mean '--set'?"},
        {"tilesim run configs/programs/add_two.yaml", 5,
         "did you mean 'configs/programs/add_one.yaml'?"},
        {"tilesim run configs/devices/xdna.yaml", 2, "is a device; `tilesim describe "},
        {"tilesim run configs/models/opt_125m.yaml", 2, "is a model; a scenario names it"},
        {"tilesim run configs/kernels/scale.yaml", 2, "holds kernel costs; `tilesim run DESIGN"},
        {"tilesim run configs/sweeps/xdna_tile_shapes.yaml", 2, "`tilesim sweep "},
        {"tilesim run configs/programs/add_one.yaml --format jsn", 2,
         "--format: must be one of table, json, csv, got 'jsn'; did you mean 'json'?"},
        {"tilesim validate avx521", 2, "got 'avx521'; did you mean 'avx512'?"},
        {"tilesim run configs/programs/add_one.yaml --set npu.clock=1GHz", 2,
         "--set npu.clock: unknown key; did you mean 'device.npu.clock'?"},
        {"tilesim tune configs/programs/add_one.yaml", 2, "tune: a program has no mapping"},
        {"tilesim sweep configs/programs/add_one.yaml", 2, "`tilesim run "},
        {"tilesim", 2, "lists the commands"},
        {"tilesim run", 2, "with examples"}};
    for (const auto& [command, code, said] : cases) {
        const Output output = shell(command);
        EXPECT_EQ(output.code, code) << command;
        EXPECT_NE(output.text.find(said), output.text.npos) << command << "\n" << output.text;
    }
}

}  // namespace
}  // namespace tilesim::sim::manual
