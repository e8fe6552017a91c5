#include "sim/write_file.hpp"

#include <fmt/format.h>

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

}  // namespace

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
