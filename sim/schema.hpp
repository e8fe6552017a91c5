// The JSON Schema of every kind of file, for editors: from the readers' own declarations.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::sim {

// Of the keys these documents were asked for.
nlohmann::ordered_json schema_of(const std::vector<arch::base::config::Document>& documents);

// Of any file: scenarios (GEMMs, models, programs, designs, agents), devices, sweeps, transformer
// models, kernel costs; its keys tell which it is. `sweep`: the schema of sweep files.
nlohmann::ordered_json json_schema(nlohmann::ordered_json sweep);

}  // namespace tilesim::sim
