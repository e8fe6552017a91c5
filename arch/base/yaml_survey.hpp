// A look through YAML text before nodes are built of it. yaml-cpp recurses once a level, follows
// aliases wherever they lead and never ends on text after a document; a hostile or mistyped file
// must be an error at its place instead.
#pragma once

#include <cstddef>
#include <string>

namespace tilesim::arch::base::config {

inline constexpr std::size_t kMostDepth =
    64;  // levels, aliases followed; no file of ours passes 10
inline constexpr std::size_t kMostAliasedNodes = 100'000;  // what one list or map may grow to

// The same document for yaml-cpp, which looks at every character of a comment a hundred times, and
// half of a device file is comments: of these only the '#' is left. Text in which a '#' after a
// blank could be anything but a comment stays as it is.
std::string without_comments(const std::string& text);

// Throws YAML::Exception, with a mark, unless the text is nothing or one well-formed document
// within these limits.
void survey_yaml(const std::string& text);

}  // namespace tilesim::arch::base::config
