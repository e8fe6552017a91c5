#include "sim/result_schema.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "sim/result_json.hpp"
#include "sim/result_keys.hpp"

namespace tilesim::sim {

using Json = nlohmann::ordered_json;

namespace {

// The schema of what holds a path's last name, and that name. Whatever holds keys has no others.
std::pair<Json*, std::string> holder(Json& schema, std::string_view path) {
    Json* at = &schema;
    while (true) {
        at->emplace("type", "object");
        at->emplace("additionalProperties", false);
        const std::size_t dot = path.find('.');
        if (dot == path.npos) {
            return {at, std::string{path}};
        }
        std::string_view name = path.substr(0, dot);
        path.remove_prefix(dot + 1);
        const bool entries = name.ends_with("[]");
        name.remove_suffix(entries ? 2 : 0);
        Json& next =
            name == "*" ? (*at)["additionalProperties"] : (*at)["properties"][std::string{name}];
        if (next.is_boolean()) {
            next = Json::object();
        }
        at = entries ? &next["items"] : &next;
    }
}

// "number or null"
Json type_of(std::string_view text) {
    constexpr std::string_view kOr = " or ";
    const std::size_t at = text.find(kOr);
    return at == text.npos
               ? Json(text)
               : Json{std::string{text.substr(0, at)}, std::string{text.substr(at + kOr.size())}};
}

void insert(Json& schema, const std::string& path, const ResultKey& key) {
    const auto [map, name] = holder(schema, path);
    Json entry{{"type", type_of(key.type)}};
    if (!key.meaning.empty()) {
        entry["description"] = key.meaning;
    }
    if (!key.unit.empty()) {
        entry["unit"] = key.unit;
    }
    if (name == "*") {
        (*map)["additionalProperties"] = std::move(entry);
        return;
    }
    (*map)["properties"][name] = std::move(entry);
    if (key.presence == ResultKey::Presence::Always) {
        (*map)["required"].push_back(name);
    }
}

}  // namespace

Json result_schema() {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "a result of tilesim"},
                {"type", "object"}};
    for (const ResultKey& key : kCommonKeys) {
        insert(schema, std::string{key.path}, key);
    }
    for (const ResultKey& key : kDetailKeys) {
        insert(schema, fmt::format("details.{}", key.path), key);
    }
    schema["properties"]["schema"]["const"] = kResultSchema;
    return schema;
}

}  // namespace tilesim::sim
