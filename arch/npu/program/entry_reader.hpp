// Reads what entries of a program file have in common: tiles, channels, ports, references by name.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

inline constexpr base::config::Range kCoordinate{0, 1023};
inline constexpr base::config::Range kCount{0, INT64_MAX};
inline constexpr base::config::Range kPacketIdRange{0, kPacketIds - 1};
inline constexpr base::config::Range kAddress{0, std::int64_t{1} << 48};

// Two integers: of the list under `key`, or of the list the node itself is.
std::vector<std::int64_t> read_pair(base::config::Node& node, std::string_view key,
                                    base::config::Range range, std::string_view description);
std::vector<std::int64_t> pair_of(base::config::Node& entry);
TileCoordinate read_tile(base::config::Node& node, std::string_view key = "tile");
// "mm2s0"; where a core's own stream ports are possible also "core_in1", "core_out0".
ChannelId read_channel_name(base::config::Node& node, TileCoordinate tile, bool core_ports);
ChannelId read_channel(base::config::Node node, bool core_ports = false);
SwitchPort read_port(base::config::Node& node, std::string_view key);

struct Alternative {
    const char* key;
    std::function<void()> read;
};
// What the entry is, by its one key; a describing one is all of it.
void read_one(base::config::Node& entry, const std::vector<Alternative>& alternatives);

// A list's entries by name.
template <class Named>
std::int64_t find_name(base::config::Node& node, std::string_view key,
                       const std::vector<Named>& list, const std::string& name, const char* what) {
    const auto place = std::find_if(list.begin(), list.end(),
                                    [&name](const Named& each) { return each.name == name; });
    if (place != list.end()) {
        return place - list.begin();
    }
    std::vector<std::string> known;
    for (const Named& each : list) {
        known.push_back(each.name);
    }
    node.error(key, fmt::format("no {} is named '{}'{}", what, name,
                                base::config::did_you_mean(name, known)));
    return 0;
}

template <class Named>
std::int64_t read_reference(base::config::Node& node, std::string_view key,
                            const std::vector<Named>& list, const char* what) {
    std::string name;
    node.required(key, name, what);
    return name.empty() ? 0 : find_name(node, key, list, name, what);
}

}  // namespace tilesim::arch::npu::program
