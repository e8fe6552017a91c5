// Keys as results print them, from the reader that reads them: a key is written once.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::workloads {

// Nested by the dots of the paths; integers and switches as JSON has them, the rest as text.
nlohmann::ordered_json json_of(const std::vector<arch::base::config::KeyDescription>& keys);

// What `read` asks for, with the values `value` holds: {"m_ct": 64, ...}.
template <class Value, class Reader>
nlohmann::ordered_json keys_of(const Value& value, Reader read) {
    Value copy = value;
    auto document = arch::base::config::Document::describing();
    auto root = document.root();
    read(root, copy);
    return json_of(document.descriptions());
}

// {"pimnast": {"split_k": 2}} -> mapping.pimnast.split_k=2
std::vector<std::pair<std::string, std::string>> settings_of(const std::string& prefix,
                                                             const nlohmann::ordered_json& keys);

}  // namespace tilesim::workloads
