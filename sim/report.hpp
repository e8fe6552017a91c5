// Writes results: a table for people, JSON and CSV for programs.
#pragma once

#include <string>

#include "sim/result_json.hpp"
#include "sim/result_table.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim {

// A header line and one line of values.
std::string to_csv(const workloads::RunResult& result);

}  // namespace tilesim::sim
