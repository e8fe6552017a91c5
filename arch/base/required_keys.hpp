// The keys that readers have required of a document so far, by path: what a schema lists.
#pragma once

#include <string>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::arch::base::config {

std::vector<std::string> required_keys(Document document);

}  // namespace tilesim::arch::base::config
