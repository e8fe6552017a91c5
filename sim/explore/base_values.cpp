#include "sim/explore/base_values.hpp"

#include <optional>

#include "sim/scenario.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;

std::map<std::string, std::string> base_values(const SweepFile& sweep) {
    const auto load = [&sweep](const Settings& settings) {
        return parse_scenario(sweep.base_text, sweep.base_file, settings);
    };
    Settings first = sweep.fixed;
    for (const Axis& axis : sweep.axes) {
        for (std::size_t i = 0; i < axis.keys.size() && !axis.values.empty(); ++i) {
            first.emplace_back(axis.keys[i], axis.values[0][i]);
        }
    }
    std::optional<Scenario> scenario;
    try {
        scenario = load(first);
    } catch (const ConfigError&) {  // the first point may be one the conditions leave out
        scenario = load(sweep.fixed);
    }
    std::map<std::string, std::string> values;
    for (const auto& key : scenario->document->descriptions()) {
        values[key.path] = key.value;
    }
    for (const NamedDevice& named : devices_of(*scenario)) {
        for (const auto& document : named.device.documents) {
            for (const auto& key : document.descriptions()) {
                values[named.prefix + key.path] = key.value;
            }
        }
    }
    return values;
}

}  // namespace tilesim::sim::explore
