#include "sim/page/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "arch/base/config.hpp"
#include "sim/explore/export.hpp"
#include "sim/page/fastest.hpp"

namespace tilesim::sim::page {

using arch::base::config::ConfigError;
using arch::base::config::read_file;
using Json = nlohmann::ordered_json;

namespace {

// What a point shows besides its settings; the table's columns.
constexpr const char* kResults[] = {
    "device",   "clock_ghz",        "time_ns",    "cycles",         "tops",        "macs_per_cycle",
    "gb_per_s", "compute_ns",       "stream_ns",  "memory_ns",      "bound_bytes", "dram_bytes",
    "dram_nj",  "speedup_over_soc", "bottleneck", "next_bottleneck"};

// Above this many points a page shows the array of none: it would be mostly that.
constexpr std::size_t kMostWithArray = 500;

double rounded(double share) {
    constexpr double kDigits = 1e4;
    return std::round(share * kDigits) / kDigits;
}

const Json kNothing;

const Json& member(const Json& object, const char* key) {
    return object.is_object() && object.contains(key) ? object[key] : kNothing;
}

// States as shares of their component's time.
Json shares(const Json& where) {
    Json result = Json::object();
    for (const auto& [component, states] : where.items()) {
        double total = 0;
        for (const auto& [state, cycles] : states.items()) {
            total += cycles.get<double>();
        }
        Json& entry = result[component] = Json::object();
        for (const auto& [state, cycles] : states.items()) {
            entry[state] = total > 0 ? rounded(cycles.get<double>() / total) : 0.0;
        }
    }
    return result;
}

// A result's value, by the name the page has for it.
Json value_of(const Json& result, const std::string& key) {
    const Json& bounds = member(result, "bounds");
    const Json& memory = member(result, "memory");
    if (key == "bound_bytes") {  // what the memory bound is made of
        return member(bounds, "dram_bytes");
    }
    if (key == "dram_bytes") {  // what the memory moved
        return memory.contains("bytes_read") ? Json(memory["bytes_read"].get<std::int64_t>() +
                                                    memory["bytes_written"].get<std::int64_t>())
                                             : Json();
    }
    if (key == "dram_nj") {
        return member(member(result, "memory_energy"), "total_nj");
    }
    const Json* value = &member(result, key.c_str());
    for (const Json* inner : {&bounds, &memory}) {
        value = value->is_null() ? &member(*inner, key.c_str()) : value;
    }
    return *value;
}

Json page_point(const Json& result, bool with_array) {
    Json point = Json::object();
    for (const char* key : kResults) {
        point[key] = value_of(result, key);
    }
    const Json& where = member(result, "where_time_went");
    point["where"] = where.is_object() ? shares(where) : Json::object();
    if (with_array && member(result, "busy").is_object()) {
        point["busy"] = result["busy"];
    }
    if (with_array && result.is_object() && result.contains("banks")) {
        point["banks"] = result["banks"];
    }
    if (with_array && member(result, "details").is_object()) {
        point["details"] = result["details"];
    }
    if (const Json& critical = member(member(result, "steady_state"), "tightest_cycle");
        critical.is_array()) {
        point["critical"] = critical;
    }
    return point;
}

// Results that some point has and that say something: an axis is no result, and a throughput of 0
// everywhere is that of requests, which multiply nothing.
Json shown_results(const Json& points, const Json& axes) {
    Json results = Json::array();
    for (const char* key : kResults) {
        const bool axis = std::find(axes.begin(), axes.end(), key) != axes.end();
        const bool told = std::any_of(points.begin(), points.end(), [&](const Json& point) {
            const Json& value = point[key];
            return !value.is_null() && value != 0 && value != "";
        });
        if (told && !axis) {
            results.push_back(key);
        }
    }
    return results;
}

// "gemm M 256, K 192, a int8" of {"gemm": {"M": 256, ...}}.
std::string in_words(const Json& workload) {
    std::string text;
    for (const auto& [kind, keys] : workload.items()) {
        text += text.empty() ? kind : ", " + kind;
        const char* separator = " ";
        for (const auto& [key, value] : keys.items()) {
            text += separator + (keys.is_object() ? key + " " : "") +
                    (value.is_string() ? value.get<std::string>() : value.dump());
            separator = ", ";
        }
    }
    return text;
}

Json from_run(const Json& result, const std::string& file) {
    if (!result.is_object() || !result.contains("time_ns") || !result.contains("provenance")) {
        throw ConfigError(fmt::format(
            "{}: is neither a store of `tilesim sweep` nor a result of `tilesim run`", file));
    }
    Json point = page_point(result, true);
    point["id"] = 1;
    point["status"] = member(result, "status");
    point["error"] = "";
    point["settings"] = Json::object();
    return {{"title", fmt::format("{}: {}", result.value("device", ""),
                                  in_words(member(result, "workload")))},
            {"model", result["provenance"].value("version", "")},
            {"of", 1},
            {"axes", Json::array()},
            {"results", shown_results(Json::array({point}), Json::array())},
            {"points", Json::array({point})},
            {"provenance", result["provenance"]}};
}

Json from_store(const std::string& file, std::int64_t id) {
    explore::Store store(file, explore::Store::Mode::Read);
    const explore::StoredSweep sweep = explore::pick_sweep(store, id);
    const std::vector<explore::StoredPoint> stored = store.points(sweep.id);
    Json points = Json::array();
    Json axes = Json::array();
    for (const explore::StoredPoint& from : stored) {
        Json point =
            page_point(explore::stored_json(from, from.result), stored.size() <= kMostWithArray);
        point["id"] = from.id;
        point["status"] = from.status;
        point["error"] = from.error;
        point["settings"] = explore::stored_json(from, from.settings);
        if (axes.empty()) {
            for (const auto& [key, value] : point["settings"].items()) {
                axes.push_back(key);
            }
        }
        points.push_back(std::move(point));
    }
    Json results = shown_results(points, axes);
    Json fastest = fastest_devices(axes, points);
    return {{"title", sweep.name},
            {"model", sweep.model},
            {"of", sweep.points},
            {"fastest", std::move(fastest)},
            {"axes", std::move(axes)},
            {"results", std::move(results)},
            {"points", std::move(points)},
            {"provenance",
             {{"store", std::filesystem::path{file}.filename().string()},
              {"model", sweep.model},
              {"sweep", sweep.text}}}};
}

}  // namespace

Json page_data(const std::string& path, std::int64_t sweep) {
    const std::filesystem::path result = std::filesystem::path(path) / "result.json";
    const std::string file = std::filesystem::exists(result) ? result.string() : path;
    std::ifstream in(file, std::ios::binary);
    std::string start(sizeof "SQLite format 3", '\0');
    in.read(start.data(), static_cast<std::streamsize>(start.size()));
    if (start.starts_with("SQLite format 3")) {
        return explore::from_stored(file, [&] { return from_store(file, sweep); });
    }
    if (sweep != 0) {
        throw ConfigError(fmt::format("--sweep: {} is one result, no store of sweeps", file));
    }
    try {
        return from_run(Json::parse(read_file(file), nullptr, false), file);
    } catch (const Json::exception& problem) {
        throw ConfigError(
            fmt::format("{}: is no result as `tilesim run` writes it: {}", file, problem.what()));
    }
}

}  // namespace tilesim::sim::page
