// The report: one HTML page with everything in it, or the same as Markdown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilesim::sim::page {

// `data` as `page_data` gives it.
std::string to_html(const nlohmann::ordered_json& data);
std::string to_markdown(const nlohmann::ordered_json& data);

}  // namespace tilesim::sim::page
