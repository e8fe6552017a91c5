// What a mapping states that leaves the rest of its keys to be chosen.
#pragma once

#include <nlohmann/json.hpp>

#include "arch/base/config.hpp"

namespace tilesim::workloads::npu {

class StatedKeys {
  public:
    StatedKeys() = default;
    // Those of the keys read from `node` that its file gives, with the values read.
    StatedKeys(const arch::base::config::Node& node, const nlohmann::ordered_json& read);

    // With what is stated in place of what `keys` hold.
    template <class Keys, class Reader>
    Keys over(Keys keys, Reader read) const {
        auto document = arch::base::config::Document::parse(values_.dump(), "");
        auto root = document.root();
        read(root, keys);
        return keys;
    }

    bool has(const char* key) const { return values_.contains(key); }
    // Whether other keys hold what is stated.
    bool hold(const nlohmann::ordered_json& keys) const;

  private:
    nlohmann::ordered_json values_ = nlohmann::ordered_json::object();
};

}  // namespace tilesim::workloads::npu
