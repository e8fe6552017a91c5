#include "sim/explore/settings.hpp"

#include <fmt/format.h>

#include "sim/explore/axis.hpp"

namespace tilesim::sim::explore {

Settings parse_settings(const std::vector<std::string>& texts) {
    Settings settings;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw arch::base::config::ConfigError(
                fmt::format("--set {}: must be key.path=value", text));
        }
        const Axis set{{text.substr(0, equals)}, {{text.substr(equals + 1)}}};
        for (const auto& [key, value] : settings) {
            if (const std::string twice = set_by_both({{key}, {{value}}}, set); !twice.empty()) {
                throw arch::base::config::ConfigError(fmt::format("--set {}: {}", text, twice));
            }
        }
        settings.emplace_back(set.keys.front(), set.values.front().front());
    }
    return settings;
}

}  // namespace tilesim::sim::explore
