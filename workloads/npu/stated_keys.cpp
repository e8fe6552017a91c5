#include "workloads/npu/stated_keys.hpp"

#include <algorithm>
#include <string>

namespace tilesim::workloads::npu {

StatedKeys::StatedKeys(const arch::base::config::Node& node, const nlohmann::ordered_json& read) {
    for (const std::string& key : node.asked()) {
        if (node.has(key) && read.contains(key)) {
            values_[key] = read[key];
        }
    }
}

bool StatedKeys::hold(const nlohmann::ordered_json& keys) const {
    return std::all_of(values_.items().begin(), values_.items().end(), [&](const auto& stated) {
        return keys.contains(stated.key()) && keys[stated.key()] == stated.value();
    });
}

}  // namespace tilesim::workloads::npu
