#include "sim/page/figures.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "arch/base/config.hpp"
#include "sim/page/web_files.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::page {

using arch::base::config::ConfigError;
using arch::base::config::IoError;
using arch::base::config::read_file;

namespace {

namespace fs = std::filesystem;

// A folder that goes when this does.
class Scratch {
  public:
    Scratch() {
        std::string name = (fs::temp_directory_path() / "tilesim-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw IoError(fmt::format("{}: cannot be made", name));
        }
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string file(const char* name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

// Runs node with these arguments, its output in a file; its exit code.
int run_node(const std::string& script, const std::string& page, const std::string& folder,
             const std::string& output) {
    std::string name = "node";
    std::string words[] = {script, page, folder};
    char* const arguments[] = {name.data(), words[0].data(), words[1].data(), words[2].data(),
                               nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    constexpr mode_t kMode = 0600;
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, kMode);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, "node", &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw ConfigError("--figures needs Node.js, which is not there: apt-get install nodejs");
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::size_t write_figures(const std::string& page, const std::string& folder) {
    if (web_file("library.js").empty()) {
        throw ConfigError("--figures: this program was built without the plot library");
    }
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw IoError(fmt::format("{}: {}", folder, error.message()));
    }
    const Scratch scratch;
    write_file(scratch.file("page.html"), page);
    write_file(scratch.file("figures.js"), std::string{web_file("figures.js")});
    const std::string output = scratch.file("output");
    const int code =
        run_node(scratch.file("figures.js"), scratch.file("page.html"), folder, output);
    const std::string said = read_file(output);
    if (code != 0) {
        throw IoError(fmt::format("--figures: {}", said.substr(0, said.find('\n'))));
    }
    return std::stoul(said);
}

}  // namespace tilesim::sim::page
