#include "sim/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string>
#include <string_view>

#include "arch/base/required_keys.hpp"
#include "sim/scenario.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::sim {

using arch::base::config::Document;
using arch::base::config::KeyDescription;
using Json = nlohmann::ordered_json;

namespace {

// The schema at one step of a key's path: a property, the entries of a list ("modes[0]"), or what a
// map holds under names of the user's choice ("*").
Json& step(Json& schema, std::string_view name) {
    if (name == "*") {
        Json& others = schema["additionalProperties"];
        return others.is_boolean() ? others = Json::object() : others;
    }
    const std::size_t bracket = name.find('[');
    Json& property = schema["properties"][std::string{name.substr(0, bracket)}];
    return bracket == std::string_view::npos ? property : property["items"];
}

// The schema of the map that holds the last key of a dotted path, and that key.
std::pair<Json*, std::string_view> parent(Json& schema, std::string_view path) {
    Json* at = &schema;
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
        at = &step(*at, path.substr(0, dot));
        path = path.substr(dot + 1);
    }
    return {at, path};
}

// "1..8" and "at least 2" of an integer.
void limit(Json& entry, std::string_view range) {
    constexpr std::string_view kAtLeast = "at least ";
    const auto number = [](std::string_view text) {
        std::int64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    };
    if (range.starts_with(kAtLeast)) {
        entry["minimum"] = number(range.substr(kAtLeast.size()));
    } else if (const std::size_t dots = range.find(".."); dots != range.npos) {
        entry["minimum"] = number(range.substr(0, dots));
        entry["maximum"] = number(range.substr(dots + 2));
    }
}

void set_type(Json& entry, const KeyDescription& key) {
    if (key.type == "map") {
        entry["type"] = "object";
        entry["additionalProperties"] = false;
    } else if (key.type == "list") {
        entry["type"] = "array";
    } else if (key.type == "integer") {
        entry["type"] = "integer";
        limit(entry, key.range);
    } else if (key.type == "boolean") {
        entry["enum"] = {"on", "off", true, false};
    } else if (key.type == "enum") {
        entry["enum"] = key.choices;
    } else if (key.type == "quantity") {
        entry["type"] = "string";
        entry["pattern"] = fmt::format("^[0-9]+([.][0-9]+)? ?({})$", fmt::join(key.units, "|"));
    } else {
        entry["type"] = {"string", "number"};  // YAML has a number where a text looks like one
    }
}

Json default_of(const KeyDescription& key) {
    if (key.type == "integer") {
        return Json::parse(key.default_value);
    }
    return key.default_value;
}

// Inserts a key of a dotted path into a schema's nested properties; what is there stays.
void insert(Json& schema, const KeyDescription& key) {
    const auto [map, name] = parent(schema, key.path);
    Json& entry = step(*map, name);
    if (entry.contains("type") || entry.contains("enum")) {
        return;
    }
    entry["description"] = key.type == "quantity"
                               ? fmt::format("{} ({})", key.description, key.range)
                               : key.description;
    set_type(entry, key);
    if (!key.default_value.empty()) {
        entry["default"] = default_of(key);
    }
}

void require(Json& schema, const std::string& path) {
    const auto [map, name] = parent(schema, path);
    if (name == "*" || name.find('[') != name.npos) {
        return;
    }
    Json& names = (*map)["required"];
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
    }
}

Json required(std::string_view key) {
    return {{"required", {key}}};
}

// One of these keys, and no other of them.
Json exactly_one_of(const std::vector<std::string_view>& keys) {
    Json alternatives = Json::array();
    for (const std::string_view key : keys) {
        alternatives.push_back(required(key));
    }
    return alternatives;
}

// An agent's device, workload and mapping, or program, are written as in a scenario.
void complete_agents(Json& properties) {
    Json& agent = properties["agents"]["additionalProperties"];
    agent.erase("required");
    for (const auto& [key, schema] : properties.items()) {
        if (key != "agents" && key != "memory" && key != "run" && key != "traffic") {
            agent["properties"][key] = {
                {"$ref", fmt::format("#/$defs/scenario/properties/{}", key)}};
        }
    }
}

Json scenario_schema() {
    Document scenario = Document::describing();
    auto root = scenario.root();
    describe_scenario(root);
    Json schema = schema_of({scenario});
    // What a scenario computes is one of several things; the reader asks for each.
    std::vector<std::string_view> below_workload;
    Json computed = Json::array({required("workload"), required("agents")});
    for (const workloads::ProblemKind* kind : workloads::catalogue::problem_kinds()) {
        if (kind->at_root()) {
            computed.push_back(required(kind->key()));
        } else if (below_workload.empty() || below_workload.back() != kind->key()) {
            below_workload.push_back(kind->key());
        }
    }
    Json& workload = schema["properties"]["workload"];
    workload.erase("required");
    workload["oneOf"] = exactly_one_of(below_workload);
    schema["oneOf"] = computed;
    complete_agents(schema["properties"]);
    // A design names its target; agents have a device each, and a memory.
    schema["required"] = Json::array();
    schema["if"] = {{"anyOf", {required("agents"), required("design")}}};
    schema["else"] = required("device");
    schema["dependentRequired"] = {{"agents", {"memory"}}};
    return schema;
}

// A device's keys follow from its kind.
Json device_schema(Json& definitions) {
    Json schema{{"type", "object"}, {"required", {"name", "kind"}}};
    Json& kinds = schema["properties"]["kind"]["enum"];
    for (const workloads::Machine* machine : workloads::catalogue::machines()) {
        Document document = Document::describing();
        auto root = document.root();
        workloads::catalogue::describe_device(root, *machine);
        const std::string name = fmt::format("device_{}", machine->kind());
        definitions[name] = schema_of({document});
        kinds.push_back(machine->kind());
        const Json is_kind{{"properties", {{"kind", {{"const", machine->kind()}}}}}};
        schema["allOf"].push_back(
            {{"if", is_kind}, {"then", {{"$ref", fmt::format("#/$defs/{}", name)}}}});
    }
    return schema;
}

Json model_schema() {
    Document document = Document::describing();
    workloads::read_transformer(document.root());
    return schema_of({document});
}

// A file of kernel costs holds what may also stand under `design`.
Json kernels_schema(const Json& scenario) {
    Json schema{{"type", "object"}, {"additionalProperties", false}};
    const Json& design = scenario["properties"]["design"]["properties"];
    for (const char* key :
         {"kernels", "cascade", "stream", "default_kernel", "default_core", "inline"}) {
        schema["properties"][key] = design.at(key);
    }
    return schema;
}

Json reference(const char* name) {
    return {{"$ref", fmt::format("#/$defs/{}", name)}};
}

// Entries of lists that have keys are maps with no others.
void close_entries(Json& schema) {
    for (auto& [key, value] : schema.items()) {
        if (key == "items" && value.contains("properties")) {
            value["type"] = "object";
            value.emplace("additionalProperties", false);
        }
        if (value.is_structured()) {
            close_entries(value);
        }
    }
}

}  // namespace

Json schema_of(const std::vector<Document>& documents) {
    Json schema{{"type", "object"}, {"additionalProperties", false}};
    for (const Document& document : documents) {
        for (const KeyDescription& key : document.descriptions()) {
            insert(schema, key);
        }
        for (const std::string& path : required_keys(document)) {
            require(schema, path);
        }
    }
    return schema;
}

Json json_schema(Json sweep) {
    Json definitions;
    definitions["scenario"] = scenario_schema();
    definitions["device"] = device_schema(definitions);
    definitions["sweep"] = std::move(sweep);
    definitions["model"] = model_schema();
    definitions["kernels"] = kernels_schema(definitions["scenario"]);
    // Keys that only one kind of file has at its root, most telling first.
    const std::pair<const char*, Json> kinds[] = {
        {"sweep", required("axes")},
        {"device", required("kind")},
        {"model", required("layers")},
        {"kernels",
         {{"anyOf",
           {required("kernels"), required("default_kernel"), required("inline"),
            required("default_core")}},
          {"not", required("device")}}}};
    Json root = reference("scenario");
    for (auto kind = std::rbegin(kinds); kind != std::rend(kinds); ++kind) {
        root = {{"if", kind->second}, {"then", reference(kind->first)}, {"else", root}};
    }
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "a file of tilesim"},
                {"type", "object"}};
    schema.update(root);
    schema["$defs"] = definitions;
    close_entries(schema);
    return schema;
}

}  // namespace tilesim::sim
