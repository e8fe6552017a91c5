#include "workloads/paths.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "arch/base/config.hpp"
#include "workloads/source_folders.hpp"

namespace tilesim::workloads {

namespace fs = std::filesystem;

namespace {

// The file this code was loaded from: the program, or a module in another program's process.
fs::path own_file() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&own_file), &info) == 0 ||
        info.dli_fname == nullptr) {
        return {};
    }
    std::error_code error;
    return fs::canonical(info.dli_fname, error);
}

// The program as it was started; known without /proc too.
fs::path started_file() {
    const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    std::error_code error;
    return name == nullptr ? fs::path{} : fs::canonical(name, error);
}

// What is installed with a file: PREFIX/share/tilesim, the file lying somewhere below PREFIX.
fs::path installed_with(const fs::path& file, const char* folder) {
    std::error_code error;
    for (fs::path prefix = file.parent_path(); prefix.has_relative_path();
         prefix = prefix.parent_path()) {
        if (const fs::path found = prefix / "share/tilesim" / folder;
            fs::is_directory(found, error)) {
            return found;
        }
    }
    return {};
}

// Named by the environment, installed with the program or module, or in the source tree.
std::string shipped(const char* folder, const char* in_source) {
    std::error_code error;
    if (const char* share = std::getenv("TILESIM_SHARE"); share != nullptr) {
        return (fs::path{share} / folder).string();
    }
    for (const fs::path& file :
         {fs::read_symlink("/proc/self/exe", error), started_file(), own_file()}) {
        if (const fs::path installed = installed_with(file, folder); !installed.empty()) {
            return installed.string();
        }
    }
    return in_source;
}

std::string shipped_file(const char* what, const char* in, const std::string& name) {
    if (is_path(name)) {
        try {
            arch::base::config::require_file(name);
        } catch (const arch::base::config::IoError& problem) {
            throw UnknownName(problem.what());
        }
        return name;
    }
    const fs::path folder = fs::path{configs_folder()} / in;
    const fs::path file = folder / (name + ".yaml");
    std::error_code error;
    if (fs::exists(file, error)) {
        return file.string();
    }
    std::vector<std::string> known;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        known.push_back(entry.path().stem().string());
    }
    std::sort(known.begin(), known.end());
    throw UnknownName(fmt::format("unknown {} '{}'; known are {}{}", what, name,
                                  fmt::join(known, ", "),
                                  arch::base::config::did_you_mean(name, known)));
}

}  // namespace

std::string configs_folder() {
    return shipped("configs", kSourceConfigs);
}

std::string validation_folder() {
    return shipped("validation", kSourceValidation);
}

std::string device_file(const std::string& name) {
    return shipped_file("device", "devices", name);
}

std::string model_file(const std::string& name) {
    return shipped_file("model", "models", name);
}

bool is_path(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".yaml");
}

std::string named_in(const std::string& file, const std::string& name) {
    const std::string near = beside(file, name);
    std::error_code error;
    if (!is_path(name) || near == name) {
        return name;
    }
    if (fs::exists(near, error)) {
        return near;
    }
    if (fs::exists(name, error)) {
        return name;
    }
    throw UnknownName(
        fmt::format("'{}' is neither in the working folder nor beside {}, {}", name, file, near));
}

void require_one_meaning(const std::string& file, const std::string& setting,
                         const std::string& name) {
    const std::string near = beside(file, name);
    std::error_code error;
    if (is_path(name) && near != name && fs::exists(near, error) && fs::exists(name, error) &&
        !fs::equivalent(near, name, error)) {
        throw arch::base::config::ConfigError(fmt::format(
            "{}: may be {}, beside {}, or {} in the working folder: write the whole path", setting,
            near, file, name));
    }
}

std::string beside(const std::string& file, const std::string& path) {
    const std::size_t slash = file.rfind('/');
    return path.starts_with('/') || slash == std::string::npos ? path
                                                               : file.substr(0, slash + 1) + path;
}

bool is_readable(arch::base::config::Node& node, std::string_view key, const std::string& path) {
    try {
        arch::base::config::require_file(path);
        return true;
    } catch (const arch::base::config::IoError& problem) {
        node.error(key, problem.what());
        return false;
    }
}

std::optional<std::string> read_named_file(arch::base::config::Node& node, std::string_view key,
                                           const std::string& path) {
    return is_readable(node, key, path) ? std::optional{arch::base::config::read_file(path)}
                                        : std::nullopt;
}

}  // namespace tilesim::workloads
