#include "sim/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "workloads/npu/mlir/design_file.hpp"
#include "sim/scenario.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim {

using arch::base::config::Document;
using arch::base::config::KeyDescription;
using Json = nlohmann::ordered_json;

namespace {

std::string table_of(const Document& document) {
    std::string text;
    for (const KeyDescription& key : document.descriptions()) {
        if (key.type == "map" || key.type == "list") {
            text += fmt::format("{:<44} {}\n", key.path + ":", key.description);
            continue;
        }
        const std::string changed =
            key.value == key.default_value ? "" : fmt::format(" (default {})", key.default_value);
        const std::string allowed =
            !key.range.empty() ? key.range : fmt::format("{}", fmt::join(key.choices, "|"));
        text += fmt::format("{:<44} {:<16}{} [{}] {}{}\n", key.path, key.value, changed, allowed,
                            key.description, key.source.empty() ? "" : " -- " + key.source);
    }
    return text;
}

// The schema at one step of a key's path: a property, the entries of a list ("modes[0]"), or what a
// map holds under names of the user's choice ("*").
Json& step(Json& schema, std::string_view name) {
    if (name == "*") {
        return schema["additionalProperties"].is_boolean() ? schema["additionalProperties"] =
                                                                 Json::object()
                                                           : schema["additionalProperties"];
    }
    const std::size_t bracket = name.find('[');
    Json& property = schema["properties"][std::string{name.substr(0, bracket)}];
    return bracket == std::string_view::npos ? property : property["items"];
}

// Inserts a key of a dotted path into a schema's nested properties; what is there stays.
void insert(Json& schema, const KeyDescription& key) {
    Json* at = &schema;
    std::string_view rest = key.path;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
        at = &step(*at, rest.substr(0, dot));
        rest = rest.substr(dot + 1);
    }
    Json& entry = step(*at, rest);
    if (entry.contains("type") || entry.contains("enum")) {
        // `memory` is a name in one device and a map in another.
        if (entry.contains("type") && (entry["type"] == "object") != (key.type == "map")) {
            entry["type"] = {"object", "string"};
        }
        return;
    }
    entry["description"] = key.description;
    if (key.type == "map") {
        entry["type"] = "object";
        entry["additionalProperties"] = false;
    } else if (key.type == "list") {
        entry["type"] = "array";
    } else if (key.type == "integer") {
        entry["type"] = "integer";
    } else if (key.type == "boolean") {
        entry["enum"] = {"on", "off", true, false};
    } else if (key.type == "enum") {
        entry["enum"] = key.choices;
    } else if (key.type == "quantity") {
        entry["type"] = "string";
        entry["pattern"] = fmt::format("^[0-9.]+ ?({})$", fmt::join(key.units, "|"));
    } else {
        entry["type"] = {"string", "number"};  // YAML has a number where a text looks like one
    }
    if (!key.default_value.empty()) {
        entry["default"] = key.default_value;
    }
}

}  // namespace

std::string description(const std::string& device_or_file,
                        const std::vector<std::pair<std::string, std::string>>& overrides) {
    std::vector<Document> documents;
    bool scenario = false;
    if (workloads::npu::mlir::is_design_file(device_or_file)) {
        scenario = true;
    } else if (device_or_file.find('/') != std::string::npos || device_or_file.ends_with(".yaml")) {
        const Document probe = Document::load(device_or_file);
        Document copy = probe;
        scenario = copy.root().has("workload") || copy.root().has("design") ||
                   copy.root().has("agents");
    }
    std::string text;
    if (scenario) {
        const Scenario loaded = load_scenario(device_or_file, overrides);
        text += table_of(*loaded.document);
        documents = loaded.device.documents;
    } else {
        documents = workloads::catalogue::load_device(device_or_file, overrides).documents;
    }
    for (const Document& document : documents) {
        text += table_of(document);
    }
    return text;
}

Json schema_of(const std::vector<Document>& documents) {
    Json schema{{"type", "object"}, {"additionalProperties", false}};
    for (const Document& document : documents) {
        for (const KeyDescription& key : document.descriptions()) {
            insert(schema, key);
        }
    }
    return schema;
}

// From the readers themselves: each is asked for every key it may read.
Json json_schema() {
    std::vector<Document> devices;
    for (const workloads::Machine* machine : workloads::catalogue::machines()) {
        Document document = Document::describing();
        auto root = document.root();
        workloads::catalogue::describe_device(root, *machine);
        devices.push_back(document);
    }
    Document scenario = Document::describing();
    auto root = scenario.root();
    describe_scenario(root);
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"$ref", "#/$defs/scenario"},
            {"$defs", {{"device", schema_of(devices)}, {"scenario", schema_of({scenario})}}}};
}

}  // namespace tilesim::sim
