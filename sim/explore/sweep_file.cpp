#include "sim/explore/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "arch/base/quantity.hpp"
#include "arch/base/yaml_block.hpp"
#include "sim/explore/axis_range.hpp"
#include "sim/explore/base_values.hpp"
#include "sim/scenario.hpp"
#include "sim/schema.hpp"
#include "workloads/npu/mlir/design/design_file.hpp"
#include "workloads/paths.hpp"

namespace tilesim::sim::explore {

namespace fs = std::filesystem;
using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;
using arch::base::config::only_block;
using workloads::npu::mlir::design::is_design_file;

namespace {

constexpr std::int64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;

std::vector<std::string> texts_of(Node node, std::string_view key, std::string_view meaning) {
    std::vector<std::string> texts;
    for (Node& entry : node.list(key, meaning)) {
        texts.push_back(entry.scalar());
    }
    if (texts.empty()) {
        node.error(key, "must list at least one value");
    }
    return texts;
}

std::vector<std::string> read_range(Node node) {
    AxisRange range;
    node.required("from", range.from, "first value");
    node.required("to", range.to, "last value, where the steps meet it");
    const auto given = [&node](const char* key, std::optional<std::string>& value,
                               const char* meaning) {
        if (node.has(key)) {
            value.emplace();
            node.optional(key, *value, meaning);
        }
    };
    given("step", range.step, "added from value to value");
    given("factor", range.factor, "multiplied from value to value");
    if (node.offers("points")) {
        range.points = 1;
        node.optional("points", *range.points, {1, 100'000}, "how many values");
    }
    node.optional("spacing", range.logarithmic, {{"linear", false}, {"log", true}},
                  "of the points");
    node.done();
    if (range.from.empty() || range.to.empty()) {
        return {};  // reported as missing
    }
    try {
        return values_of(range);
    } catch (const std::invalid_argument& problem) {
        node.error("", problem.what());
        return {};
    }
}

Axis read_zip(Node node) {
    Axis axis;
    for (const std::string& key : node.keys()) {
        const std::vector<std::string> values = texts_of(node, key, "values of one key");
        if (!axis.keys.empty() && values.size() != axis.values.size()) {
            node.error(key, fmt::format("must list as many values as '{}' ({}), got {}",
                                        axis.keys[0], axis.values.size(), values.size()));
            continue;
        }
        axis.keys.push_back(key);
        axis.values.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            axis.values[i].push_back(values[i]);
        }
    }
    if (axis.keys.empty()) {
        node.error("", "must hold keys and the values they take together");
    }
    return axis;
}

Axis read_axis(Node node) {
    Axis axis;
    std::vector<std::string> values;
    if (node.offers("zip")) {
        axis = read_zip(node.child("zip", "keys that change together"));
    } else if (node.offers("seeds")) {
        std::int64_t count = 0;
        node.required("seeds", count, arch::base::config::Range{1, 100'000},
                      "repetitions with seeds 1, 2, 3 ...");
        axis.keys = {"run.seed"};
        for (std::int64_t seed = 1; seed <= count; ++seed) {
            values.push_back(std::to_string(seed));
        }
    } else {
        std::string key;
        node.required("key", key, "the key that changes");
        axis.keys = {key};
        if (node.has("key") && key.empty()) {
            node.error("key", "must be the path of a key, like device.npu.clock");
        }
        if (node.has("values") == node.has("range")) {
            node.error("", "must hold exactly one of values, range, zip, seeds");
        }
        if (node.offers("range")) {
            values = read_range(node.child("range", "evenly spaced values"));
        }
        if (node.offers("values")) {
            values = texts_of(node, "values", "the values it takes");
        }
    }
    node.done();
    for (const std::string& value : values) {
        axis.values.push_back({value});
    }
    for (const std::string& equal : equal_values(axis)) {
        node.error(node.has("zip") ? "zip" : "values", equal);
    }
    return axis;
}

// What every point sets as an axis of one value.
Axis as_axis(const Settings& fixed) {
    Axis axis{{}, {{}}};
    for (const auto& [key, value] : fixed) {
        axis.keys.push_back(key);
        axis.values[0].push_back(value);
    }
    return axis;
}

void read_axes(Node& root, SweepFile& sweep) {
    std::vector<Axis> before{as_axis(sweep.fixed)};
    for (Node& entry : root.list("axes", "what varies; the first axis varies slowest")) {
        Axis axis = read_axis(entry);
        for (const std::string& key : axis.keys) {
            if (key.starts_with('.') || key.ends_with('.') || key.find("..") != key.npos) {
                entry.error("",
                            fmt::format("'{}' is no key: must be names with dots between", key));
            }
        }
        for (const Axis& other : before) {
            if (const std::string twice = set_by_both(other, axis); !twice.empty()) {
                entry.error("", twice);
            }
        }
        before.push_back(axis);
        sweep.axes.push_back(std::move(axis));
    }
    if (sweep.axes.empty()) {
        root.error("axes", "must list at least one axis");
    }
}

void read_base(Node& root, SweepFile& sweep, const std::string& file) {
    if (root.has("base") == root.has("scenario")) {
        root.error("", "must hold exactly one of base, scenario");
        root.child("scenario", "a scenario written here");
    }
    if (root.has("scenario")) {
        root.child("scenario", "a scenario written here");
        sweep.base_file = file;
        sweep.base_text = only_block(sweep.text, "scenario");
        return;
    }
    root.optional("base", sweep.base_file, "scenario file, from this file's folder");
    if (!sweep.base_file.empty()) {
        sweep.base_file = (fs::path{file}.parent_path() / sweep.base_file).lexically_normal();
        if (!workloads::is_readable(root, "base", sweep.base_file)) {
            return;
        }
        if (is_design_file(sweep.base_file)) {
            sweep.base_text = scenario_text(sweep.base_file);
            return;
        }
        Document base = Document::load(sweep.base_file);
        if (base.root().has("axes")) {
            root.error("base",
                       fmt::format("{} is a sweep itself; name the scenario", sweep.base_file));
            return;
        }
        sweep.base_text = base.text();
    }
}

void read_limits(Node node, Limits& limits) {
    arch::base::Femtoseconds time{limits.time.count() * kFemtosecondsPerMillisecond};
    arch::base::Bytes memory{limits.memory_bytes};
    node.optional("time", time, {kFemtosecondsPerMillisecond, INT64_MAX}, "host time of one point");
    // The least leaves a process room to start.
    node.optional("memory", memory, {std::int64_t{64} << 20, std::int64_t{1} << 44},
                  "host memory of one point");
    node.done();
    limits.time = std::chrono::milliseconds{time.count() / kFemtosecondsPerMillisecond};
    limits.memory_bytes = memory.count();
}

// A key the scenario does not have is an error of the sweep, not of each of its points: reads one
// point and turns what it says of unknown keys into errors at the axis.
void check_keys(Node& root, const SweepFile& sweep) {
    Settings first = sweep.fixed;
    for (const Axis& axis : sweep.axes) {
        for (std::size_t i = 0; i < axis.keys.size() && !axis.values.empty(); ++i) {
            first.emplace_back(axis.keys[i], axis.values[0][i]);
        }
    }
    std::optional<ConfigError> refusal;
    try {
        parse_scenario(sweep.base_text, sweep.base_file, first);
        return;
    } catch (const ConfigError& error) {
        refusal = error;
    }
    const auto report = [&refusal](Node& node, const std::string& key) {
        if (const std::string unknown = unknown_key(*refusal, key); !unknown.empty()) {
            node.error("", unknown);
        }
    };
    for (const auto& [key, value] : sweep.fixed) {
        Node set = root.child("set", "the same for every point");
        report(set, key);
    }
    std::vector<Node> entries = root.list("axes", "what varies");
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
        for (const std::string& key : sweep.axes[i].keys) {
            report(entries[i], key);
        }
    }
}

void read_where(Node& root, SweepFile& sweep) {
    for (Node& entry : root.list("where", "conditions every point must meet")) {
        const std::string text = entry.scalar();
        try {
            sweep.where.emplace_back(text, Expression{text});
        } catch (const std::invalid_argument& problem) {
            entry.error("", fmt::format("{} in '{}'", problem.what(), text));
        }
    }
}

// A key that neither an axis sets nor the scenario or the device has is an error at its condition.
void check_conditions(Node& root, const SweepFile& sweep) {
    std::set<std::string> set_by_axes;
    for (const Axis& axis : sweep.axes) {
        set_by_axes.insert(axis.keys.begin(), axis.keys.end());
    }
    std::map<std::string, std::string> values;
    std::vector<Node> entries = root.list("where", "conditions every point must meet");
    for (std::size_t i = 0; i < sweep.where.size(); ++i) {
        for (const std::string& key : sweep.where[i].second.keys()) {
            if (set_by_axes.count(key) > 0) {
                continue;
            }
            values = values.empty() ? base_values(sweep) : values;
            if (values.count(key) > 0) {
                continue;
            }
            std::vector<std::string> known(set_by_axes.begin(), set_by_axes.end());
            for (const auto& [name, value] : values) {
                known.push_back(name);
            }
            entries[i].error("", fmt::format("'{}' is no key of these points{} in '{}'", key,
                                             arch::base::config::did_you_mean(key, known),
                                             sweep.where[i].first));
        }
    }
}

void read_fixed(Node node, Settings& fixed) {
    for (const std::string& key : node.keys()) {
        std::string value;
        node.optional(key, value, "the same for every point");
        fixed.emplace_back(key, value);
    }
    node.done();
}

SweepFile read_sweep(Document document, const std::string& file) {
    SweepFile sweep;
    sweep.name = fs::path{file}.stem();
    sweep.text = document.text();
    Node root = document.root();
    if (root.has("device") && !root.has("axes")) {
        throw ConfigError(
            fmt::format("{0}:1:1: is a scenario; `tilesim run {0}` runs it, and a "
                        "sweep begins with `base: {0}`",
                        file));
    }
    read_base(root, sweep, file);
    read_fixed(root.child("set", "the same for every point"), sweep.fixed);
    read_axes(root, sweep);
    sweep.axes_place = document.located("axes: ");
    read_where(root, sweep);
    sweep.where_place = document.located("where: ");
    read_limits(root.child("limits", "of one point, on the host"), sweep.limits);
    root.done();
    document.finish();
    check_keys(root, sweep);
    document.finish();
    check_conditions(root, sweep);
    document.finish();
    return sweep;
}

}  // namespace

SweepFile load_sweep(const std::string& file) {
    if (is_design_file(file)) {
        throw ConfigError(fmt::format(
            "{0}: is a design; `tilesim run {0}` runs it, and a sweep begins with `base: {0}`",
            file));
    }
    return read_sweep(Document::load(file), file);
}

SweepFile parse_sweep(const std::string& text, const std::string& file) {
    return read_sweep(Document::parse(text, file), file);
}

std::string scenario_text(const std::string& file) {
    if (is_design_file(file)) {
        // By its name alone: points are the same wherever it lies.
        const nlohmann::json name = fs::path{file}.filename().string();
        return fmt::format("design: {{file: {}}}\n",
                           name.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    Document document = Document::load(file);
    Node root = document.root();
    return root.has("axes") && root.has("scenario") ? only_block(document.text(), "scenario")
                                                    : document.text();
}

nlohmann::ordered_json sweep_schema() {
    // Every key of a sweep file, so that its reader asks for all of them.
    const Document document = Document::parse(
        "scenario:\n"
        "  device: ddr5_5600\n"
        "  workload: {memory_stream: {requests: 1}}\n"
        "set: {}\n"
        "axes:\n"
        "  - {key: workload.memory_stream.requests, range: {from: 1, to: 4, step: 1}}\n"
        "  - {key: workload.memory_stream.outstanding, range: {from: 1, to: 4, factor: 2}}\n"
        "  - {key: workload.memory_stream.range, range: {from: 64 B, to: 256 B, points: 2}}\n"
        "  - {key: workload.memory_stream.granule, values: [64 B]}\n"
        "  - zip: {workload.memory_stream.stride: [64 B]}\n"
        "  - {seeds: 1}\n"
        "where: []\n"
        "limits: {}\n",
        "schema");
    read_sweep(document, "schema");
    nlohmann::ordered_json schema = schema_of({document});
    auto& properties = schema["properties"];
    const nlohmann::ordered_json scalar{{"type", {"string", "number", "boolean"}}};
    const nlohmann::ordered_json scalars{{"type", "array"}, {"items", scalar}};
    auto& axis = properties["axes"]["items"];
    axis["type"] = "object";
    // What an axis varies is written in one of four ways.
    axis.erase("required");
    axis["oneOf"] = {{{"required", {"key", "values"}}},
                     {{"required", {"key", "range"}}},
                     {{"required", {"zip"}}},
                     {{"required", {"seeds"}}}};
    axis["additionalProperties"] = false;
    axis["properties"]["values"]["items"] = scalar;
    // Values of a range are written with or without a unit.
    for (const char* key : {"from", "to", "step", "factor"}) {
        axis["properties"]["range"]["properties"][key]["type"] = scalar["type"];
    }
    // Maps whose keys are those of the scenario.
    axis["properties"]["seeds"].erase("default");
    axis["properties"]["range"]["properties"]["points"].erase("default");
    const std::string meaning = axis["properties"]["zip"]["description"];
    axis["properties"]["zip"] = {
        {"description", meaning}, {"type", "object"}, {"additionalProperties", scalars}};
    properties["set"]["additionalProperties"] = scalar;
    properties["base"] = {{"description", "scenario file, from this file's folder"},
                          {"type", "string"}};
    properties["scenario"] = {{"$ref", "#/$defs/scenario"}};
    properties["where"]["items"] = {{"type", "string"}};
    schema["required"] = {"axes"};
    schema["oneOf"] = {{{"required", {"base"}}}, {{"required", {"scenario"}}}};
    return schema;
}

}  // namespace tilesim::sim::explore
