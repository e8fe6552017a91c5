#include "sim/explore/axis_effects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace tilesim::sim::explore {

namespace {

// But for what the axis itself is told by, and for what differs from host to host.
std::size_t digest(const Simulated& simulated) {
    if (!simulated.good()) {
        return std::hash<std::string>{}(simulated.status);
    }
    nlohmann::ordered_json result = simulated.result;
    for (const char* key : {"device", "workload", "mapping", "notes", "not_exercised", "provenance",
                            "wall_s", "events"}) {
        result.erase(key);
    }
    return std::hash<std::string>{}(result.dump());
}

std::string others(const Point& point, const Axis& axis) {
    std::string text;
    for (const auto& [key, value] : point.settings) {
        if (std::find(axis.keys.begin(), axis.keys.end(), key) == axis.keys.end()) {
            text += fmt::format("{}={}\n", key, value);
        }
    }
    return text;
}

}  // namespace

AxisEffects::AxisEffects(const SweepFile& sweep) {
    for (const Axis& axis : sweep.axes) {
        effects_.push_back({axis});
    }
}

void AxisEffects::add(const Point& point, const Simulated& simulated) {
    const std::size_t result = digest(simulated);
    for (Effect& effect : effects_) {
        if (effect.felt) {
            continue;
        }
        const auto [at, is_first] = effect.first.emplace(others(point, effect.axis), First{result});
        First& first = at->second;
        effect.felt = first.result != result;
        if (effect.felt) {
            effect.first.clear();
        } else if (!is_first && simulated.good()) {
            effect.compared += std::exchange(first.alone, false) ? 2 : 1;
        }
    }
}

std::vector<AxisEffects::Unfelt> AxisEffects::unfelt() const {
    std::vector<Unfelt> list;
    for (const Effect& effect : effects_) {
        if (!effect.felt && effect.compared > 0) {
            list.push_back({fmt::format("{}", fmt::join(effect.axis.keys, ", ")), effect.compared});
        }
    }
    return list;
}

}  // namespace tilesim::sim::explore
