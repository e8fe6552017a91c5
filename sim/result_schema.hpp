// The JSON Schema of a run's result.
#pragma once

#include <nlohmann/json.hpp>

namespace tilesim::sim {

// Of `run --format json` and of result.json; numbers have their `unit`.
nlohmann::ordered_json result_schema();

}  // namespace tilesim::sim
