// The plots of a page as SVG files, for papers: drawn by the page's own scripts, in Node.js.
#pragma once

#include <string>

namespace tilesim::sim::page {

// Draws the plots of `page` (HTML) into `folder`, which is made; how many. Throws ConfigError where
// there is no Node.js or no plot library, IoError where files cannot be written.
std::size_t write_figures(const std::string& page, const std::string& folder);

}  // namespace tilesim::sim::page
