// The comparison of two traces as a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/compare/trace_compare.hpp"

namespace tilesim::sim::compare {

std::string to_table(const TraceComparison& comparison);
nlohmann::ordered_json to_json(const TraceComparison& comparison);

}  // namespace tilesim::sim::compare
