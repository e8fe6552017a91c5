// Top-level blocks of a YAML text, by line: what is left keeps its lines and columns, so that
// messages point where the user wrote it. Where the key begins no line (a map in braces, a key in
// quotes) what is left is written anew instead.
#pragma once

#include <string>

namespace tilesim::arch::base::config {

// What stands under `key:`; everything else is blank, the key itself too. An alias of what stands
// elsewhere in the text is replaced by that.
std::string only_block(const std::string& text, const std::string& key);
// Everything but `key:` and what stands under it.
std::string without_block(const std::string& text, const std::string& key);

}  // namespace tilesim::arch::base::config
