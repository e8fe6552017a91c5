// Writes results: a table for people, JSON and CSV for programs.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "workloads/result.hpp"

namespace tilesim::sim {

std::string to_table(const workloads::RunResult& result);
// One object; `host`: with the numbers that depend on the host (wall_s).
nlohmann::ordered_json to_json(const workloads::RunResult& result, bool host);
// A header line and one line of values.
std::string to_csv(const workloads::RunResult& result);

// Writes text to a file through a temporary and a rename; throws IoError when it cannot be written
// whole, leaving nothing behind.
void write_file(const std::string& path, const std::string& text);
// The same, of a text too long to be kept whole: `write` puts it out.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace tilesim::sim
