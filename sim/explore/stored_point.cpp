#include "sim/explore/stored_point.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/explore/command_line.hpp"
#include "sim/result_json.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

StoredPoint stored_point(const SweepFile& sweep, const Point& point, const Simulated& outcome,
                         const std::string& model) {
    StoredPoint stored;
    stored.hash = point.hash;
    stored.model = model;
    stored.status = outcome.status;
    stored.error = outcome.error;
    stored.scenario = outcome.scenario;
    auto device_settings = nlohmann::ordered_json::object();
    for (const auto& [key, value] : overrides_of(sweep, point)) {
        if (sets_device(key)) {
            device_settings[key] = value;
        }
    }
    stored.device_settings = device_settings.dump();
    stored.base_file = std::filesystem::absolute(sweep.base_file);
    auto result = outcome.result;
    if (outcome.good()) {
        Settings settings = overrides_of(sweep, point);
        if (!result["mapping"].empty()) {  // the one chosen stands for the keys it came from
            std::erase_if(settings,
                          [](const auto& each) { return each.first.starts_with("mapping"); });
            settings.emplace_back("mapping", result["mapping"].dump());
        }
        result["command"] = run_command(stored.base_file, settings);
    }
    stored.result = json_text(result, -1);
    stored.wall_s = outcome.wall_s;
    stored.peak_mib = outcome.peak_mib;
    return stored;
}

}  // namespace tilesim::sim::explore
