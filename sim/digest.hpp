// Content hashes for provenance and for the identity of sweep points.
#pragma once

#include <string>

namespace tilesim::sim {

// SHA-1 in hexadecimal: names content, protects nothing.
std::string sha1(const std::string& text);

}  // namespace tilesim::sim
