// What the parts of a program's reader share: tiles, channels, ports, names that must be declared,
// and maps that are one of several things.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

inline constexpr base::config::Range kCount{0, INT64_MAX};
inline constexpr base::config::Range kPacketIdRange{0, kPacketIds - 1};
inline constexpr base::config::Range kAddress{0, std::int64_t{1} << 48};  // bytes

// The list of two integers under `key`; the node itself is one, where there is no key.
std::vector<std::int64_t> read_pair(base::config::Node& node, std::string_view key,
                                    base::config::Range range, std::string_view description);
std::vector<std::int64_t> pair_of(base::config::Node& entry);

// An integer that may be left out.
void read_if_there(base::config::Node& node, std::string_view key,
                   std::optional<std::int64_t>& value, base::config::Range range,
                   std::string_view description);

TileCoordinate read_tile(base::config::Node& node, std::string_view key = "tile");
// "mm2s0"; with `core_ports` also a core's own stream ports, "core_in1", "core_out0".
ChannelId read_channel_name(base::config::Node& node, TileCoordinate tile, bool core_ports);
ChannelId read_channel(base::config::Node node, bool core_ports = false);
SwitchPort read_port(base::config::Node& node, std::string_view key);

// The index of the entry of this name; where there is none, an error that names the nearest.
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
    const std::string near = base::config::nearest_name(name, known);
    node.error(key, fmt::format("no {} is named '{}'{}", what, name,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    return 0;
}

template <class Named>
std::int64_t read_reference(base::config::Node& node, std::string_view key,
                            const std::vector<Named>& list, const char* what) {
    std::string name;
    node.required(key, name, what);
    return name.empty() ? 0 : find_name(node, key, list, name, what);
}

LockAction read_lock_action(base::config::Node node, const std::vector<Lock>& locks);

struct Alternative {
    const char* key;
    std::function<void()> read;
};
// What the entry is, by its one key; a describing one is all of it.
void read_one(base::config::Node& entry, const std::vector<Alternative>& alternatives);

}  // namespace tilesim::arch::npu::program
