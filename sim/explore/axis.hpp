// What varies along one axis of a sweep, and what cannot: texts that say why, none where it can.
#pragma once

#include <string>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

// One or more keys that change together; `values[i]` holds one text a key.
struct Axis {
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values;
};

// A value given twice would be two points that are one: each with the one it is again.
std::vector<std::string> equal_values(const Axis& axis);
// A key that both set: its own name, or a map of one that the other sets a value in.
std::string set_by_both(const Axis& one, const Axis& other);
// Of a key that was set in a scenario, which was refused since: why it cannot be set in any.
std::string unknown_key(const arch::base::config::ConfigError& refusal, const std::string& key);

}  // namespace tilesim::sim::explore
