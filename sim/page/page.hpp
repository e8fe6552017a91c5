// The report: one HTML page with everything in it, or the same as Markdown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// `data` as `page_data` gives it.
std::string to_html(const nlohmann::ordered_json& data);
// A page of a comparison: what `compare --format json` prints, with the timelines.
std::string to_comparison_html(const nlohmann::ordered_json& data, const std::string& title);
std::string to_markdown(const nlohmann::ordered_json& data);

}  // namespace tilesim::sim::page
