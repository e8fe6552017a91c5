// The timeline of a run's page, from the trace that `tilesim run --trace` wrote of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// {"kinds": [{"name": "core", "shown": true, "lanes": [name], "spans": [[lane, begin, end, state]],
// "left_out": count}], "states": [name], "end": cycle}. A lane is a component with one span after
// the other, coloured by its state; components that are in several states at once have a lane for
// each. Kinds are components that differ in their numbers only; "shown" are those a page begins
// with. Of a kind with more spans than a page can draw, the longest. `text`: the file's; throws
// ConfigError, which names `file`, when it is no trace.
nlohmann::ordered_json timeline(const std::string& text, const std::string& file);

}  // namespace tilesim::sim::page
