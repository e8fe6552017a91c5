#include "arch/systemc/parameters.hpp"

#include <algorithm>

namespace tilesim::arch::systemc {

Parameters::Parameters(int argc, const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (const std::size_t equals = argument.find('='); equals != std::string::npos) {
            settings_.emplace_back(argument.substr(0, equals), argument.substr(equals + 1));
        }
    }
}

std::vector<std::pair<std::string, std::string>> Parameters::take(const std::string& module) {
    const std::string prefix = module + ".";
    std::vector<std::pair<std::string, std::string>> taken;
    for (const auto& [key, value] : settings_) {
        if (key.starts_with(prefix)) {
            taken.emplace_back(key.substr(prefix.size()), value);
        }
    }
    std::erase_if(settings_,
                  [&](const auto& setting) { return setting.first.starts_with(prefix); });
    return taken;
}

std::vector<std::string> Parameters::left() const {
    std::vector<std::string> left;
    std::transform(settings_.begin(), settings_.end(), std::back_inserter(left),
                   [](const auto& setting) { return setting.first + "=" + setting.second; });
    return left;
}

}  // namespace tilesim::arch::systemc
