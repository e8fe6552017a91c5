// What the other commands print: parameters and the JSON Schema.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario.hpp"

namespace tilesim::sim {

// Every parameter of a device or a scenario: value, default, range, meaning, source.
std::string description(const std::string& device_or_file,
                        const std::vector<std::pair<std::string, std::string>>& overrides);
// JSON Schema of the keys these documents were asked for, from the readers' own declarations.
nlohmann::ordered_json schema_of(const std::vector<arch::base::config::Document>& documents);
// That of device and scenario files.
nlohmann::ordered_json json_schema();

}  // namespace tilesim::sim
