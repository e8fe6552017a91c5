#include "workloads/amx/tiles/core_attribution.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/attribution.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

constexpr double kHardlyIdle = 0.05;  // of a channel's time
// A DRAM of twice the speed takes off half of what its busses need, anything else at most the rest.
constexpr double kMoreThanAllElse = 2.0 / 3;

// Of the channels' time, what passes in these states.
double share_of_channels(const RunResult& result, std::initializer_list<std::string_view> wanted) {
    double in_them = 0;
    double all = 0;
    for (const auto& [name, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            if (name == "dram_channel") {
                all += cycles;
                in_them +=
                    std::find(wanted.begin(), wanted.end(), state) != wanted.end() ? cycles : 0;
            }
        }
    }
    return all > 0 ? in_them / all : 0;
}

bool dram_is_saturated(const RunResult& result) {
    const double needed = share_of_channels(result, {"read", "write", "turnaround", "refresh"});
    const double lacking = share_of_channels(result, {"idle"});
    return needed > kMoreThanAllElse || (needed > 0 && lacking <= kHardlyIdle);
}

// For data, or for room that data under way take.
bool waits_for_data(std::string_view state) {
    constexpr std::array<std::string_view, 8> kWaits{
        "load_l1", "load_l2", "load_l3", "load_memory", "fill_buffers", "tiles", "window", "drain"};
    return std::find(kWaits.begin(), kWaits.end(), state) != kWaits.end();
}

}  // namespace

void name_core_bottlenecks(RunResult& result, const std::vector<Cause>& overlapped) {
    const bool saturated = dram_is_saturated(result);
    double hidden = 0;
    for (const auto& [cycles, state] : overlapped) {
        hidden += waits_for_data(state) ? cycles : 0;
    }
    const auto behind = [&](const std::string& state) {
        const auto found = std::find_if(overlapped.begin(), overlapped.end(),
                                        [&](const Cause& each) { return each.second == state; });
        return found != overlapped.end() && waits_for_data(state) ? found->first : 0.0;
    };
    std::vector<Cause> causes{{0, "DRAM"}};
    for (const auto& [name, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            // Who has finished does not keep the others.
            if (name != "core" || state == "finished") {
                continue;
            }
            const double counted = cycles + behind(state) - (state == "multiply" ? hidden : 0);
            if (saturated && waits_for_data(state)) {
                causes.front().first += counted;
            } else {
                causes.emplace_back(counted, "core: " + state);
            }
        }
    }
    take_longest(result, std::move(causes));
}

}  // namespace tilesim::workloads::amx::tiles
