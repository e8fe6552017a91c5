#include "sim/page/fastest.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilesim::sim::page {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kDevice = "device";

}  // namespace

Json fastest_devices(const Json& axes, const Json& points) {
    if (std::find(axes.begin(), axes.end(), kDevice) == axes.end()) {
        return {};
    }
    Json others = Json::array();
    std::copy_if(axes.begin(), axes.end(), std::back_inserter(others),
                 [](const Json& axis) { return axis != kDevice; });
    std::vector<std::string> devices;  // in the sweep's order, as are the rows
    std::vector<Json> settings;
    std::map<std::string, std::size_t> row_of;
    std::vector<std::map<std::string, double>> times;
    for (const Json& point : points) {
        const std::string device = point["settings"][kDevice];
        if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
            devices.push_back(device);
        }
        Json values = Json::array();
        for (const Json& axis : others) {
            values.push_back(point["settings"][axis.get<std::string>()]);
        }
        const auto [row, added] = row_of.emplace(values.dump(), times.size());
        if (added) {
            settings.push_back(values);
            times.emplace_back();
        }
        if (point["status"] == "ok" && point["time_ns"].is_number()) {
            times[row->second][device] = point["time_ns"];
        }
    }
    Json rows = Json::array();
    for (std::size_t i = 0; i < times.size(); ++i) {
        Json all = Json::array();
        Json best;  // of equal ones the first
        double least = std::numeric_limits<double>::infinity();
        for (const std::string& device : devices) {
            const auto time = times[i].find(device);
            all.push_back(time == times[i].end() ? Json() : Json(time->second));
            if (time != times[i].end() && time->second < least) {
                best = device;
                least = time->second;
            }
        }
        rows.push_back({{"settings", std::move(settings[i])},
                        {"time_ns", std::move(all)},
                        {"fastest", std::move(best)}});
    }
    return {{"axes", std::move(others)}, {"devices", devices}, {"rows", std::move(rows)}};
}

}  // namespace tilesim::sim::page
