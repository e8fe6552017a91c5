// Where shipped files are: beside an installed program, or in the source tree it was built from.
#pragma once

#include <string>

namespace tilesim::sim {

std::string configs_folder();
std::string validation_folder();
// A device file: a path when it has a slash or ends in .yaml, otherwise a shipped device's name.
std::string device_file(const std::string& name);
// The same for the transformer models.
std::string model_file(const std::string& name);

}  // namespace tilesim::sim
