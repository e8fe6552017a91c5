// The data a report page or text shows: the points of a sweep, or one run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// {"title", "model", "of", "axes": [key], "results": [key], "points": [...], "provenance"}.
// `path`: a store of `tilesim sweep`, a result of `tilesim run --format json`, or the folder that
// `run --out` wrote. `sweep`: its id in the store, 0 for the newest. Throws ConfigError when the
// path is neither.
nlohmann::ordered_json page_data(const std::string& path, std::int64_t sweep);

}  // namespace tilesim::sim::page
