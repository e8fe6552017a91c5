// How evenly a result's accesses fall on the banks of each DRAM channel, as Markdown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// `banks`: as in a result. A row for each channel: its accesses (bursts read and written), the
// banks with most and fewest of them, and the most over the mean.
std::string bank_table(const nlohmann::ordered_json& banks);

}  // namespace tilesim::sim::page
