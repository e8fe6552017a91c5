// The points of a sweep as tables: a line a point, a column a key that was set or came out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/explore/store.hpp"

namespace tilesim::sim::explore {

// The sweep with this id, or the newest for 0. Throws ConfigError when there is none.
StoredSweep pick_sweep(Store& store, std::int64_t id);

// Columns: id, status, what the axes set by their keys, then the results; units in the names.
std::string points_csv(Store& store, const StoredSweep& sweep);
// {"sweep", "model", "finished", "points": [{"id", "status", "settings", "result"}]}
nlohmann::ordered_json points_json(Store& store, const StoredSweep& sweep);

}  // namespace tilesim::sim::explore
