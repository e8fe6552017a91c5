#include "arch/npu/stream/arbiters.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tilesim::arch::npu::stream {

namespace {

using Masters = std::set<program::SwitchPort>;

// Masters with an arbiter of their own, and the selects their packets need.
struct Group {
    Masters masters;
    std::set<Masters> combinations;
    std::int64_t arbiter = -1;
};

struct Switch {
    bool stated = false;
    // By packet: where it comes in, its id, and by which ports it leaves.
    std::map<std::pair<program::SwitchPort, std::int64_t>, Masters> packets;
    std::vector<Group> groups;
};

bool meet(const Masters& a, const Masters& b) {
    return std::any_of(a.begin(), a.end(), [&b](const auto& port) { return b.contains(port); });
}

void group(Switch& box) {
    for (const auto& [packet, masters] : box.packets) {
        Group merged{masters, {masters}};
        std::erase_if(box.groups, [&merged](const Group& other) {
            const bool common = meet(merged.masters, other.masters);
            if (common) {
                merged.masters.insert(other.masters.begin(), other.masters.end());
                merged.combinations.insert(other.combinations.begin(), other.combinations.end());
            }
            return common;
        });
        box.groups.push_back(std::move(merged));
    }
}

// Each group the arbiter with the most selects left; the largest first, so that all find room where
// there is any.
void hand_out(Switch& box) {
    std::vector<std::size_t> used(kArbiters, 0);
    std::stable_sort(box.groups.begin(), box.groups.end(), [](const Group& a, const Group& b) {
        return a.combinations.size() > b.combinations.size();
    });
    for (Group& each : box.groups) {
        const auto place = std::min_element(used.begin(), used.end());
        if (*place + each.combinations.size() <= kSelects) {
            each.arbiter = place - used.begin();
            *place += each.combinations.size();
        }
    }
    const bool apart = box.groups.size() <= kArbiters &&
                       std::all_of(box.groups.begin(), box.groups.end(),
                                   [](const Group& each) { return each.masters.size() == 1; });
    for (Group& each : box.groups) {
        each.arbiter = apart ? -1 : each.arbiter;
    }
}

}  // namespace

void share_arbiters(program::Program& program) {
    std::map<program::TileCoordinate, Switch> switches;
    for (const program::Route& route : program.routes) {
        for (const program::Hop& hop : route.path) {
            if (route.packet_id) {
                Switch& box = switches[hop.tile];
                box.stated |= hop.arbiter.has_value();
                box.packets[{hop.in, *route.packet_id}].insert(hop.out);
            }
        }
    }
    for (auto& [tile, box] : switches) {
        group(box);
        hand_out(box);
    }
    for (program::Route& route : program.routes) {
        for (program::Hop& hop : route.path) {
            if (!route.packet_id || switches.at(hop.tile).stated) {
                continue;
            }
            for (const Group& each : switches.at(hop.tile).groups) {
                if (each.arbiter >= 0 && each.masters.contains(hop.out)) {
                    hop.arbiter = each.arbiter;
                }
            }
        }
    }
}

}  // namespace tilesim::arch::npu::stream
