#include "sim/explore/yaml_value.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {

std::string with_value(const std::string& text, const std::string& path, const std::string& value,
                       const std::string& comment) {
    std::vector<std::pair<std::size_t, std::string>> open;  // indent and key of the maps around
    std::istringstream in(text);
    std::string result;
    bool found = false;
    for (std::string line; std::getline(in, line);) {
        const std::size_t indent = line.find_first_not_of(' ');
        const std::size_t colon = line.find(':');
        const bool key =
            indent != line.npos && line[indent] != '#' && line[indent] != '-' && colon != line.npos;
        if (key) {
            while (!open.empty() && open.back().first >= indent) {
                open.pop_back();
            }
            open.emplace_back(indent, line.substr(indent, colon - indent));
            std::string here;
            for (const auto& [at, name] : open) {
                here += (here.empty() ? "" : ".") + name;
            }
            if (here == path) {
                line = fmt::format("{}: {}  # {}", line.substr(0, colon), value, comment);
                found = true;
            }
        }
        result += line + "\n";
    }
    if (!found) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: stands on no line of its own in the device's file", path));
    }
    return result;
}

}  // namespace tilesim::sim::explore
