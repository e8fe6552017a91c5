// One value of a YAML text, changed where it stands: comments and layout stay.
#pragma once

#include <string>

namespace tilesim::sim::explore {

// The text with another value at a dotted path, and a comment in the place of the line's own.
// Maps in block style only; throws ConfigError where the path does not lead to a value in such.
std::string with_value(const std::string& text, const std::string& path, const std::string& value,
                       const std::string& comment);

}  // namespace tilesim::sim::explore
