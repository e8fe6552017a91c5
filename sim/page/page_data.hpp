// The data a report page or text shows: the points of a sweep, or one run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// {"title", "model", "of", "axes": [key], "results": [key], "points": [...], "provenance"}.
// `file`: a store of `tilesim sweep`, or a result of `tilesim run --format json`. `sweep`: its id
// in the store, 0 for the newest. Throws ConfigError when the file is neither.
nlohmann::ordered_json page_data(const std::string& file, std::int64_t sweep);

}  // namespace tilesim::sim::page
