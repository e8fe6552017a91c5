#include "sim/explore/settings.hpp"

#include <fmt/format.h>

namespace tilesim::sim::explore {

Settings parse_settings(const std::vector<std::string>& texts) {
    Settings settings;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw arch::base::config::ConfigError(
                fmt::format("--set {}: must be key.path=value", text));
        }
        settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return settings;
}

}  // namespace tilesim::sim::explore
