// Files that are written whole or not at all.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace tilesim::sim {

// Writes text to a file through a temporary and a rename; throws IoError when it cannot be written
// whole, leaving nothing behind.
void write_file(const std::string& path, const std::string& text);
// The same, of a text too long to be kept whole: `write` puts it out.
void write_file(const std::string& path, const std::function<void(std::ostream&)>& write);

// To be asked before the work whose result goes to a file: throws IoError where `write_file` will
// fail, ConfigError where it would replace one of those that are read. `option` is what names it on
// the command line ("--html"); an empty path is no file.
void check_output(std::string_view option, const std::string& path,
                  const std::vector<std::string>& read = {});
// The same of files in a folder that is made for them.
void check_folder(const std::string& path);

}  // namespace tilesim::sim
