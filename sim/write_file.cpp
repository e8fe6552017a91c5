#include "sim/write_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "arch/base/config.hpp"

namespace tilesim::sim {

namespace fs = std::filesystem;

namespace {

// Where a link leads, whether or not there is anything yet; the path itself where it is none.
std::string end_of_link(fs::path path) {
    constexpr int kMostLinks = 40;  // as the kernel follows
    std::error_code error;
    for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
        path = path.parent_path() / fs::read_symlink(path, error);
    }
    return path;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw arch::base::config::IoError(fmt::format("{}: {}", path, why));
}

// Files can be made in the folder.
void check_parent(const std::string& path, const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder, error)) {
        refuse(path, fmt::format("there is no folder {}", folder.string()));
    }
    if (!fs::is_directory(folder, error)) {
        refuse(path, fmt::format("{} is no folder", folder.string()));
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        refuse(path, fmt::format("{} may not be written to", folder.string()));
    }
}

fs::path or_here(const fs::path& folder) {
    return folder.empty() ? fs::path{"."} : folder;
}

}  // namespace

void check_output(std::string_view option, const std::string& path,
                  const std::vector<std::string>& read) {
    if (path.empty()) {
        return;
    }
    std::error_code error;
    const fs::path target = end_of_link(path);
    if (fs::is_directory(target, error) || !target.has_filename()) {
        refuse(path, "is a folder");
    }
    if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
        return;  // a terminal, /dev/full
    }
    for (const std::string& each : read) {
        if (fs::equivalent(target, each, error)) {
            throw arch::base::config::ConfigError(
                fmt::format("{} {}: would replace {}, which is read", option, path, each));
        }
    }
    check_parent(path, or_here(target.parent_path()));
}

void check_folder(const std::string& path) {
    if (path.empty()) {
        return;
    }
    std::error_code error;
    fs::path there = path;  // as much of it as exists
    while (!there.empty() && !fs::exists(there, error) && there != there.parent_path()) {
        there = there.parent_path();
    }
    check_parent(path, or_here(there));
}

void write_file(const std::string& path, const std::string& text) {
    write_file(path, [&text](std::ostream& out) { out << text; });
}

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
    std::error_code error;
    // A link stays one, and what is no file (a terminal, /dev/full) is written to, not replaced.
    const std::string target = end_of_link(path);
    const bool in_place = fs::exists(target, error) && !fs::is_regular_file(target, error);
    const std::string written = in_place ? target : target + ".part";
    std::ofstream out(written, std::ios::binary);
    write(out);
    out.close();
    if (out.fail()) {
        if (!in_place) {
            fs::remove(written, error);
        }
        throw arch::base::config::IoError(fmt::format("{}: cannot be written", path));
    }
    if (!in_place) {
        fs::rename(written, target, error);
    }
    if (error) {
        throw arch::base::config::IoError(fmt::format("{}: {}", path, error.message()));
    }
}

}  // namespace tilesim::sim
