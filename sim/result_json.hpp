// A result as programs read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "workloads/result.hpp"

namespace tilesim::sim {

// Name and version of the form, in JSON and CSV.
inline constexpr const char* kResultSchema = "tilesim-result-1";

// One object; `host`: with the numbers that depend on the host (wall_s).
nlohmann::ordered_json to_json(const workloads::RunResult& result, bool host);

// As text; of file names, which may be any bytes, those that are no UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json, int indent);

}  // namespace tilesim::sim
