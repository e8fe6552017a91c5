// Aliases of a YAML text and what they stand for, for whoever cuts the text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tilesim::arch::base::config {

struct YamlAlias {
    std::size_t line, column;   // of the asterisk, from 0
    std::size_t anchored_line;  // where the value's anchor stands
    std::string value;          // written in one line, aliases within it followed
};

// In the order of the text, which must be well-formed and without an alias of itself.
std::vector<YamlAlias> aliases_of(const std::string& text);

}  // namespace tilesim::arch::base::config
