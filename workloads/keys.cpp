#include "workloads/keys.hpp"

#include <cstdint>

namespace tilesim::workloads {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<arch::base::config::KeyDescription>& keys) {
    Json json = Json::object();
    for (const auto& key : keys) {
        if (key.type == "map" || key.type == "list") {
            continue;
        }
        Json* at = &json;
        std::string rest = key.path;
        for (auto dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
            at = &(*at)[rest.substr(0, dot)];
            rest = rest.substr(dot + 1);
        }
        if (key.type == "integer") {
            (*at)[rest] = static_cast<std::int64_t>(std::stoll(key.value));
        } else if (key.type == "boolean") {
            (*at)[rest] = key.value == "on";
        } else {
            (*at)[rest] = key.value;
        }
    }
    return json;
}

std::vector<std::pair<std::string, std::string>> settings_of(const std::string& prefix,
                                                             const Json& keys) {
    std::vector<std::pair<std::string, std::string>> settings;
    for (const auto& [key, value] : keys.items()) {
        const std::string path = prefix + "." + key;
        if (value.is_object()) {
            const auto below = settings_of(path, value);
            settings.insert(settings.end(), below.begin(), below.end());
        } else {
            settings.emplace_back(path,
                                  value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
    return settings;
}

}  // namespace tilesim::workloads
