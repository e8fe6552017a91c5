// The timeline of a run's page, from the trace that `tilesim run --trace` wrote of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// {"lanes": [name], "states": [name], "spans": [[lane, begin, end, state]], "end": cycle,
// "left_out": count}: of a trace with more spans than a page can draw, the longest. `text`: the
// file's; throws ConfigError, which names `file`, when it is no trace.
nlohmann::ordered_json timeline(const std::string& text, const std::string& file);

}  // namespace tilesim::sim::page
