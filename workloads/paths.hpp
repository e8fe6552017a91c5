// Where shipped files are: beside an installed program, or in the source tree it was built from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arch/base/config.hpp"

namespace tilesim::workloads {

// No shipped device or model has this name.
class UnknownName : public arch::base::config::ConfigError {
  public:
    using ConfigError::ConfigError;
};

std::string configs_folder();
std::string validation_folder();
// A device file: a path when it has a slash or ends in .yaml, otherwise a shipped device's name.
std::string device_file(const std::string& name);
// The same for the transformer models.
std::string model_file(const std::string& name);
// Whether it calls a device or a model by a path, not by the name of a shipped one.
bool is_path(const std::string& name);
// What a file calls a device or a model, for the two above: a shipped name as it is, a path from
// that file's folder, or from the working folder where nothing is there. Throws UnknownName, with
// both places, where it is in neither.
std::string named_in(const std::string& file, const std::string& name);
// The same of a setting for the file, which its writer may count from either folder. Throws
// ConfigError where that makes a difference.
void require_one_meaning(const std::string& file, const std::string& setting,
                         const std::string& name);
// A path that a file names is beside that file, unless it is absolute.
std::string beside(const std::string& file, const std::string& path);
// Whether the file whose path stands under `key` can be read; an error there otherwise.
bool is_readable(arch::base::config::Node& node, std::string_view key, const std::string& path);
// What the file holds whose path stands under `key`; nothing, and an error there, where it cannot
// be read.
std::optional<std::string> read_named_file(arch::base::config::Node& node, std::string_view key,
                                           const std::string& path);

}  // namespace tilesim::workloads
