#include "sim/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/design_file.hpp"
#include "sim/paths.hpp"

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

// Inserts a key of a dotted path into a schema's nested properties.
void insert(Json& schema, const KeyDescription& key) {
    Json* at = &schema;
    std::string rest = key.path;
    for (std::size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
        at = &(*at)["properties"][rest.substr(0, dot)];
        rest = rest.substr(dot + 1);
    }
    Json& entry = (*at)["properties"][rest];
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
        entry["type"] = "string";
    }
    if (!key.default_value.empty()) {
        entry["default"] = key.default_value;
    }
}

Json schema_of(const std::vector<const Document*>& documents) {
    Json schema{{"type", "object"}, {"additionalProperties", false}};
    for (const Document* document : documents) {
        for (const KeyDescription& key : document->descriptions()) {
            if (key.path.find('[') == std::string::npos) {
                insert(schema, key);
            }
        }
    }
    return schema;
}

}  // namespace

std::string description(const std::string& device_or_file,
                        const std::vector<std::pair<std::string, std::string>>& overrides) {
    std::vector<Document> documents;
    bool scenario = false;
    if (is_design_file(device_or_file)) {
        scenario = true;
    } else if (device_or_file.find('/') != std::string::npos || device_or_file.ends_with(".yaml")) {
        const Document probe = Document::load(device_or_file);
        Document copy = probe;
        scenario = copy.root().has("workload") || copy.root().has("design");
    }
    std::string text;
    if (scenario) {
        const Scenario loaded = load_scenario(device_or_file, overrides);
        text += table_of(*loaded.document);
        documents = loaded.device.documents;
    } else {
        documents = load_device(device_or_file, overrides).documents;
    }
    for (const Document& document : documents) {
        text += table_of(document);
    }
    return text;
}

Json json_schema() {
    const Device npu = load_device("xdna2", {});
    const Scenario gemm = parse_scenario(
        "device: xdna2\n"
        "workload: {gemm: {M: 512, K: 512, N: 1024, a: int8, b: int8, c: int32}}\n"
        "mapping: {output_stationary: {m_ct: 64, k_ct: 64, n_ct: 64}}\n",
        "schema", {});
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"$defs",
             {{"device", schema_of({&npu.documents[0], &npu.documents[1]})},
              {"scenario", schema_of({gemm.document.get()})}}}};
}

}  // namespace tilesim::sim
