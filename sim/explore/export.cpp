#include "sim/explore/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

using Json = nlohmann::ordered_json;

namespace {

// Results worth a column, by their path in the result.
constexpr const char* kExported[] = {"device",
                                     "time_ns",
                                     "cycles",
                                     "tops",
                                     "macs_per_cycle",
                                     "padding_waste",
                                     "bounds.compute_ns",
                                     "bounds.stream_ns",
                                     "bounds.memory_ns",
                                     "bounds.binding",
                                     "memory.gb_per_s",
                                     "memory.row_hit_rate",
                                     "speedup_over_soc",
                                     "sampled.error_percent",
                                     "bottleneck",
                                     "next_bottleneck",
                                     "mapping",
                                     "command"};

std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == text.npos) {
        return text;
    }
    std::string quoted(1, '"');
    for (const char c : text) {
        quoted.append(c == '"' ? 2 : 1, c);
    }
    quoted += '"';
    return quoted;
}

std::string value_at(const Json& json, const std::string& path) {
    const Json* at = &json;
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t dot = std::min(path.find('.', begin), path.size());
        const std::string key = path.substr(begin, dot - begin);
        if (!at->is_object() || !at->contains(key)) {
            return "";
        }
        at = &(*at)[key];
        begin = dot + 1;
    }
    return at->is_string() ? at->get<std::string>() : at->dump();
}

}  // namespace

StoredSweep pick_sweep(Store& store, std::int64_t id) {
    const std::vector<StoredSweep> sweeps = store.sweeps();
    for (const StoredSweep& sweep : sweeps) {
        if (sweep.id == id) {
            return sweep;
        }
    }
    if (id != 0 || sweeps.empty()) {
        throw arch::base::config::ConfigError(
            id == 0 ? "the store holds no sweep" : fmt::format("the store holds no sweep {}", id));
    }
    return sweeps.back();
}

std::string points_csv(Store& store, const StoredSweep& sweep) {
    const std::vector<StoredPoint> points = store.points(sweep.id);
    std::string text = "id,status";
    const Json axes = points.empty() ? Json::object() : stored_json(points[0], points[0].settings);
    for (const auto& [key, value] : axes.items()) {
        text.append(",").append(cell(key));
    }
    std::vector<const char*> columns;  // an axis stands in its own column already
    std::copy_if(std::begin(kExported), std::end(kExported), std::back_inserter(columns),
                 [&axes](const char* column) { return !axes.contains(column); });
    for (const char* column : columns) {
        text.append(",").append(column);
    }
    text += ",error\n";
    for (const StoredPoint& point : points) {
        text += fmt::format("{},{}", point.id, point.status);
        const Json settings = stored_json(point, point.settings);
        for (const auto& [key, value] : settings.items()) {
            text.append(",").append(cell(value.get<std::string>()));
        }
        const Json result = stored_json(point, point.result);
        for (const char* column : columns) {
            text.append(",").append(cell(value_at(result, column)));
        }
        text.append(",").append(cell(point.error)).append("\n");
    }
    return text;
}

Json points_json(Store& store, const StoredSweep& sweep) {
    Json points = Json::array();
    for (const StoredPoint& point : store.points(sweep.id)) {
        points.push_back({{"id", point.id},
                          {"status", point.status},
                          {"error", point.error},
                          {"settings", stored_json(point, point.settings)},
                          {"result", stored_json(point, point.result)}});
    }
    return {{"sweep", sweep.name},
            {"model", sweep.model},
            {"finished", sweep.finished},
            {"of", sweep.points},
            {"points", std::move(points)}};
}

}  // namespace tilesim::sim::explore
