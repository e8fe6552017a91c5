// The files of web/ and the plot library, built into the program.
#pragma once

#include <string_view>

namespace tilesim::sim::page {

// "page.html", "page.js", "compare.html", "compare.js", "page.css", "library.js". The library is
// empty in a program built without it; the page then shows its table only.
std::string_view web_file(std::string_view name);

}  // namespace tilesim::sim::page
