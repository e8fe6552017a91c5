// Files as texts.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "arch/base/config_state.hpp"

namespace tilesim::arch::base::config {

namespace {

// Of a pipe or a device.
constexpr std::size_t kMostStreamed = std::size_t{256} << 20;
// A file's name for it; one that is called so is "./-".
constexpr const char* kStandardInput = "-";
constexpr const char* kStandardInputPath = "/dev/stdin";

// The file beside it whose name is closest, as a question; empty when none is near.
std::string nearest_file(const std::filesystem::path& file) {
    std::error_code error;
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    std::vector<std::string> known;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        known.push_back(entry.path().filename().string());
    }
    std::sort(known.begin(), known.end());
    return did_you_mean(file.filename().string(), known, "'" + (file.parent_path() / "").string());
}

// All of it; `most`: bytes of what may never end.
std::string read_stream(const std::string& path, const std::string& name, std::size_t most) {
    std::error_code error;
    const bool ends = std::filesystem::is_regular_file(path, error);
    std::ifstream in(path, std::ios::binary);
    std::string text;
    std::vector<char> block(std::size_t{1} << 16);
    for (std::streamsize got = 1; got > 0;) {
        in.read(block.data(), static_cast<std::streamsize>(block.size()));
        got = in.gcount();
        text.append(block.data(), static_cast<std::size_t>(got));
        if (!ends && text.size() > most) {
            throw IoError(
                fmt::format("{}: is no file on a disk and has given {} bytes: it may "
                            "never end",
                            name, text.size()));
        }
    }
    if (in.bad() || !in.eof()) {
        throw IoError(fmt::format("{}: cannot be read", name));
    }
    return text;
}

// A pipe can be read once, and a scenario is: to see what it is, for each device it is tried on. So
// what it held takes its place.
void keep_standard_input(std::size_t most) {
    std::error_code error;
    if (std::filesystem::is_regular_file(kStandardInputPath, error)) {
        return;
    }
    const std::string text = read_stream(kStandardInputPath, kStandardInput, most);
    const int kept = ::memfd_create("standard input", MFD_CLOEXEC);
    std::size_t written = 0;
    for (ssize_t now = 1; now > 0 && written < text.size();) {
        now = ::write(kept, text.data() + written, text.size() - written);
        written += now > 0 ? static_cast<std::size_t>(now) : 0;
    }
    if (kept < 0 || written < text.size() || ::dup2(kept, STDIN_FILENO) < 0) {
        throw IoError(fmt::format("{}: cannot be kept", kStandardInput));
    }
    ::close(kept);
}

}  // namespace

void require_file(const std::string& file) {
    std::error_code error;
    if (file.empty()) {
        throw IoError("a file must have a name, got ''");
    }
    if (file == kStandardInput) {
        return;
    }
    if (std::filesystem::status(file, error).type() == std::filesystem::file_type::not_found) {
        throw IoError(fmt::format("{}: there is no such file{}", file, nearest_file(file)));
    }
    if (std::filesystem::is_directory(file, error)) {
        throw IoError(fmt::format("{}: is a directory, not a file", file));
    }
    // Not by opening it: whoever writes to a named pipe would be left alone again.
    if (::access(file.c_str(), R_OK) != 0) {
        throw IoError(fmt::format("{}: cannot be read", file));
    }
}

std::string read_at_most(const std::string& file, std::size_t most) {
    require_file(file);
    if (file == kStandardInput) {
        keep_standard_input(most);
        return read_stream(kStandardInputPath, kStandardInput, most);
    }
    return read_stream(file, file, most);
}

std::string read_file(const std::string& file) {
    return read_at_most(file, kMostStreamed);
}

}  // namespace tilesim::arch::base::config
