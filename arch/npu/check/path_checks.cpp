#include "arch/npu/check/path_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "arch/npu/check/problem_list.hpp"
#include "arch/npu/stream/arbiters.hpp"
#include "arch/npu/stream/router.hpp"
#include "arch/npu/stream/stream_switch.hpp"

namespace tilesim::arch::npu::check {

namespace {

constexpr std::size_t kRuleSlots = 4;  // per slave port

using Place = stream::TilePort;
using stream::kArbiters;
using stream::kSelects;

std::string text_of(const Place& place) {
    return fmt::format("tile {},{} {}", place.tile.column, place.tile.row, name_of(place.port));
}

// Where words that leave by a master port enter; nothing for ports that do not lead to a tile.
std::optional<Place> beyond(const Place& master, const NpuConfig& config) {
    const auto slave = stream::wire_from(master);
    return slave && config.contains(slave->tile) ? slave : std::nullopt;
}

// What one packet route does in one switch.
struct Packets {
    std::int64_t id = 0;
    std::set<program::SwitchPort> masters;
};

class PathChecks : private ProblemList {
  public:
    PathChecks(const program::Program& program, const NpuConfig& config)
        : ProblemList(program), program_(program), config_(config) {}

    std::vector<std::string> run() {
        for (const program::Route& route : program_.routes) {
            if (!route.path.empty()) {
                const auto about = at(route.where);
                check(route);
            }
        }
        for (const auto& [slave, packets] : packets_) {
            check_rules(slave, packets);
        }
        check_arbiters();
        for (const program::Merge& merge : program_.merges) {
            const auto about = at(merge.where);
            check(merge);
        }
        return take_problems();
    }

  private:
    Place place_of(const program::ChannelId& channel) const {
        return {channel.tile, stream::port_of(channel, config_.kind_of(channel.tile))};
    }

    void check(const program::Route& route) {
        std::set<Place> fed{place_of(route.source)};  // slave ports words come in by
        std::set<Place> left;                         // master ports they leave by
        for (const program::Hop& hop : route.path) {
            if (!check_hop(route, hop)) {
                return;
            }
            left.insert({hop.tile, hop.out});
            if (const auto next = beyond({hop.tile, hop.out}, config_)) {
                fed.insert(*next);
            }
            take({hop.tile, hop.out}, {hop.tile, hop.in}, route);
        }
        std::set<Place> used;
        for (const program::Hop& hop : route.path) {
            used.insert({hop.tile, hop.in});
            require(fed.contains({hop.tile, hop.in}), "route {}: nothing feeds {}", route.name,
                    text_of({hop.tile, hop.in}));
        }
        std::set<Place> ends;
        for (const program::ChannelId& destination : route.destinations) {
            ends.insert(place_of(destination));
            require(left.contains(place_of(destination)), "route {}: its path does not reach {}",
                    route.name, text_of(place_of(destination)));
        }
        for (const Place& master : left) {
            const auto next = beyond(master, config_);
            require(ends.contains(master) || (next && used.contains(*next)),
                    "route {}: what leaves by {} goes nowhere", route.name, text_of(master));
        }
        require(reaches_source(route), "route {}: its path runs in a circle", route.name);
    }

    // From each destination back to the source in no more steps than the path has.
    bool reaches_source(const program::Route& route) const {
        std::map<Place, Place> feeder;  // slave port to the slave port before it
        for (const program::Hop& hop : route.path) {
            if (const auto next = beyond({hop.tile, hop.out}, config_)) {
                feeder[*next] = {hop.tile, hop.in};
            }
        }
        for (const program::Hop& hop : route.path) {
            Place at{hop.tile, hop.in};
            std::size_t steps = 0;
            while (at != place_of(route.source) && feeder.contains(at) &&
                   steps <= route.path.size()) {
                at = feeder.at(at);
                ++steps;
            }
            if (steps > route.path.size()) {
                return false;
            }
        }
        return true;
    }

    bool check_hop(const program::Route& route, const program::Hop& hop) {
        if (!config_.contains(hop.tile)) {
            require(false, "route {}: tile {},{} is outside the array", route.name, hop.tile.column,
                    hop.tile.row);
            return false;
        }
        const program::TileKind kind = config_.kind_of(hop.tile);
        const auto known = [&](program::SwitchPort port, stream::PortSide side, const char* what) {
            const bool there = port.index < stream::ports_of(config_, kind, port.bundle, side);
            require(there, "route {}: the switch of tile {},{} has no {} {}", route.name,
                    hop.tile.column, hop.tile.row, what, name_of(port));
            return there;
        };
        const bool has_in = known(hop.in, stream::PortSide::Slave, "input");
        if (!known(hop.out, stream::PortSide::Master, "output") || !has_in) {
            return false;
        }
        const bool legal = stream::can_cross(kind, hop.in, hop.out);
        require(legal, "route {}: the switch of tile {},{} cannot connect {} to {}", route.name,
                hop.tile.column, hop.tile.row, name_of(hop.in), name_of(hop.out));
        return legal;
    }

    void take(const Place& master, const Place& slave, const program::Route& route) {
        auto& users = users_[master];
        for (const auto& [other, from] : users) {
            if (other == &route) {
                require(from == slave.port, "route {}: both {} and {} lead to {}", route.name,
                        name_of(from), name_of(slave.port), text_of(master));
                continue;
            }
            const bool packets = route.packet_id && other->packet_id;
            require(packets, "route {}: {} already belongs to {}", route.name, text_of(master),
                    other->name);
            require(!packets || stream::can_share(route, *other) || from != slave.port,
                    "routes {} and {}: both send packet {} from {} to {}", other->name, route.name,
                    route.packet_id.value_or(0), name_of(slave.port), text_of(master));
        }
        users.push_back({&route, slave.port});
        if (route.packet_id) {
            auto& packets = packets_[slave];
            const auto same = std::find_if(packets.begin(), packets.end(), [&](const auto& each) {
                return each.id == *route.packet_id;
            });
            (same == packets.end() ? packets.emplace_back(Packets{*route.packet_id, {}}) : *same)
                .masters.insert(master.port);
        }
    }

    // A rule matches ids whose masked bits equal a value; the ids of one set of masters share a
    // rule where it matches no others. The largest such set may come last and match everything.
    void check_rules(const Place& slave, const std::vector<Packets>& packets) {
        std::map<std::set<program::SwitchPort>, std::vector<std::int64_t>> by_masters;
        for (const Packets& each : packets) {
            by_masters[each.masters].push_back(each.id);
        }
        std::size_t slots = 0;
        std::size_t saved = 0;
        for (const auto& [masters, ids] : by_masters) {
            std::int64_t same = 31;  // bits in which all agree
            for (const std::int64_t id : ids) {
                same &= ~(id ^ ids[0]);
            }
            const auto matched = [&set = masters, id = ids[0], same](const Packets& each) {
                return each.masters != set && ((each.id ^ id) & same) == 0;
            };
            const bool alone = std::none_of(packets.begin(), packets.end(), matched);
            slots += alone ? 1 : ids.size();
            saved = std::max(saved, alone ? 0 : ids.size() - 1);
        }
        require(slots - saved <= kRuleSlots, "{}: its {} packet ids need {} rules, a port has {}",
                text_of(slave), packets.size(), slots - saved, kRuleSlots);
    }

    // Masters that share a packet share an arbiter; each combination of an arbiter's masters takes
    // one of its selects.
    void check_arbiters() {
        std::map<program::TileCoordinate, std::set<std::set<program::SwitchPort>>> combinations;
        for (const auto& [slave, packets] : packets_) {
            for (const Packets& each : packets) {
                combinations[slave.tile].insert(each.masters);
            }
        }
        for (const auto& [tile, sets] : combinations) {
            std::vector<Group> groups;
            for (const auto& set : sets) {
                Group merged{set, 1};
                for (auto group = groups.begin(); group != groups.end();) {
                    const bool common = std::any_of(set.begin(), set.end(), [&](const auto& port) {
                        return group->first.contains(port);
                    });
                    if (common) {
                        merged.first.insert(group->first.begin(), group->first.end());
                        merged.second += group->second;
                        group = groups.erase(group);
                    } else {
                        ++group;
                    }
                }
                groups.push_back(std::move(merged));
            }
            require(arbiters_hold(groups),
                    "tile {},{}: its packet routes need {} combinations of outputs; a "
                    "switch has {} arbiters of {}",
                    tile.column, tile.row, sets.size(), kArbiters, kSelects);
        }
    }

    void check(const program::Merge& merge) {
        const std::string of =
            fmt::format("tile {},{} arbiter {}", merge.tile.column, merge.tile.row, merge.arbiter);
        require(config_.lock_kind == LockKind::Counting,
                "{}: the switches of this device merge in no fixed order", of);
        require(merge.arbiter < stream::kMergingArbiters,
                "{}: arbiters 0..{} merge in a fixed order", of, stream::kMergingArbiters - 1);
        require(!merge.turns.empty() && merge.turns.size() <= stream::kMergeTurns,
                "{}: has 1..{} turns, not {}", of, stream::kMergeTurns, merge.turns.size());
        require(config_.contains(merge.tile), "{}: is outside the array", of);
        for (const program::Merge::Turn& turn : merge.turns) {
            require(turn.packets >= 1 && turn.packets <= stream::kMergePackets,
                    "{}: a turn has 1..{} packets, not {}", of, stream::kMergePackets,
                    turn.packets);
            require(!config_.contains(merge.tile) ||
                        turn.in.index < stream::ports_of(config_, config_.kind_of(merge.tile),
                                                         turn.in.bundle, stream::PortSide::Slave),
                    "{}: its switch has no input {}", of, name_of(turn.in));
        }
        require(merges_.insert({merge.tile, merge.arbiter}).second, "{}: has two orders", of);
    }

    using Group =
        std::pair<std::set<program::SwitchPort>, std::size_t>;  // masters, selects they need

    // First fit, largest first, which is best for groups of at most four.
    static bool arbiters_hold(const std::vector<Group>& groups) {
        std::vector<std::size_t> sizes;
        for (const auto& [masters, selects] : groups) {
            sizes.push_back(selects);
        }
        std::sort(sizes.begin(), sizes.end(), std::greater<>{});
        std::vector<std::size_t> used(kArbiters, 0);
        return std::all_of(sizes.begin(), sizes.end(), [&used](std::size_t size) {
            const auto place = std::find_if(used.begin(), used.end(), [size](std::size_t taken) {
                return taken + size <= kSelects;
            });
            if (place != used.end()) {
                *place += size;
            }
            return place != used.end();
        });
    }

    const program::Program& program_;
    const NpuConfig& config_;
    // Master port -> routes that use it and the slave ports they come from.
    std::map<Place, std::vector<std::pair<const program::Route*, program::SwitchPort>>> users_;
    std::map<Place, std::vector<Packets>> packets_;  // by slave port
    std::set<std::pair<program::TileCoordinate, std::int64_t>> merges_;
};

}  // namespace

std::vector<std::string> check_paths(const program::Program& program, const NpuConfig& config) {
    return PathChecks(program, config).run();
}

}  // namespace tilesim::arch::npu::check
