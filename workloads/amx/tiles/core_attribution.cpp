#include "workloads/amx/tiles/core_attribution.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/attribution.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::amx::tiles {

namespace {

constexpr double kHardlyIdle = 0.05;  // of a channel's time

bool dram_is_saturated(const RunResult& result) {
    double idle = 0;
    double all = 0;
    for (const auto& [name, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            if (name == "dram_channel") {
                all += cycles;
                idle += state == "idle" ? cycles : 0;
            }
        }
    }
    return all > 0 && idle <= kHardlyIdle * all;
}

// For data, or for room that data under way take.
bool waits_for_data(std::string_view state) {
    constexpr std::array<std::string_view, 8> kWaits{
        "load_l1", "load_l2", "load_l3", "load_memory", "fill_buffers", "tiles", "window", "drain"};
    return std::find(kWaits.begin(), kWaits.end(), state) != kWaits.end();
}

}  // namespace

void name_core_bottlenecks(RunResult& result) {
    const bool saturated = dram_is_saturated(result);
    std::vector<Cause> causes{{0, "DRAM"}};
    for (const auto& [name, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            if (name != "core") {
                continue;
            }
            if (saturated && waits_for_data(state)) {
                causes.front().first += cycles;
            } else {
                causes.emplace_back(cycles, "core: " + state);
            }
        }
    }
    take_longest(result, std::move(causes));
}

}  // namespace tilesim::workloads::amx::tiles
