#include "sim/write_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "arch/base/config.hpp"

namespace tilesim::sim {

void write_file(const std::string& path, const std::string& text) {
    write_file(path, [&text](std::ostream& out) { out << text; });
}

void write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
    namespace fs = std::filesystem;
    std::error_code error;
    // A link stays one, and what is no file (a terminal, /dev/full) is written to, not replaced.
    const bool link = fs::is_symlink(path, error);
    const std::string target = link ? fs::weakly_canonical(path, error).string() : path;
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
