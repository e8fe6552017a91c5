// Files that are written whole or not at all.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace tilesim::sim {

// Writes text to a file through a temporary and a rename; throws IoError when it cannot be written
// whole, leaving nothing behind.
void write_file(const std::string& path, const std::string& text);
// The same, of a text too long to be kept whole: `write` puts it out.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace tilesim::sim
