#include "workloads/npu/mlir/routes/routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/mlir/routes/flows.hpp"
#include "workloads/npu/mlir/routes/packet_headers.hpp"
#include "workloads/npu/mlir/routes/switch_settings.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

namespace {

class Switches {
  public:
    // `routed`: its tiles have names of their own. `wires`: stretches between switchboxes that are
    // stated by their ends alone.
    Switches(Lowering& lowering, const Operation& routed,
             const std::map<TilePort, std::vector<TilePort>>& wires)
        : lowering_(lowering), wires_(wires), settings_(lowering, routed) {}

    // The orders that arbiters keep; of use where the routes that have been traced pass them.
    void add_merges() {
        program::Program& program = lowering_.program;
        for (const program::Merge& merge : settings_.merges()) {
            const bool passed = std::any_of(
                program.routes.begin(), program.routes.end(), [&merge](const auto& route) {
                    return std::any_of(route.path.begin(), route.path.end(), [&](const auto& hop) {
                        return hop.tile == merge.tile && hop.arbiter == merge.arbiter;
                    });
                });
            if (passed) {
                program.merges.push_back(merge);
            } else {
                lowering_.note(fmt::format(
                    "line {}: no packets that are known here pass this arbiter, and its order is "
                    "left out",
                    merge.where.line));
            }
        }
    }

    // Adds a route for every stream that leaves a DMA channel or a core's own port.
    void trace_all() {
        const auto packet_ids = packet_ids_sent(lowering_.program);
        std::set<program::TileCoordinate> tiles;
        for (const auto& entry : settings_.switches()) {
            tiles.insert(entry.first);
        }
        for (const auto& entry : wires_) {
            tiles.insert(entry.first.first);
        }
        for (const program::ChannelId& port : ports_) {
            if (port.direction == program::Direction::MM2S && tiles.contains(port.tile) &&
                !trace(port, {"core", port.index}, std::nullopt)) {
                for (const std::int64_t id : ways_from(port).packet_ids) {
                    trace(port, {"core", port.index}, id);
                }
            }
        }
        for (const program::TileCoordinate at : tiles) {
            const program::TileKind kind = lowering_.config.kind_of(at);
            const std::int64_t channels = lowering_.config.dma_of(kind).channels;
            for (std::int64_t index = 0; index < channels; ++index) {
                const program::ChannelId source{at, program::Direction::MM2S, index};
                const auto port = entry_of(source, kind);
                // What enters by a circuit may meet packet rules further on.
                if (!port || trace(source, *port, std::nullopt)) {
                    continue;
                }
                const auto ids = packet_ids.find(at);
                for (const std::int64_t id :
                     ids == packet_ids.end() ? std::set<std::int64_t>{} : ids->second) {
                    trace(source, *port, id);
                }
            }
        }
    }

    // How words leave a channel: of ids that go the same way the first.
    Ways ways_from(const program::ChannelId& source) {
        Ways ways;
        const auto entry = source.port == program::PortKind::Core
                               ? std::optional{Port{"core", source.index}}
                               : entry_of(source, lowering_.config.kind_of(source.tile));
        if (!entry) {
            return ways;
        }
        ways.circuit = !follow(source, *entry, std::nullopt).route.destinations.empty();
        std::set<std::vector<program::ChannelId>> ends;
        for (std::int64_t id = 0; id < program::kPacketIds && !ways.circuit; ++id) {
            const program::Route route = follow(source, *entry, id).route;
            if (!route.destinations.empty() && ends.insert(route.destinations).second) {
                ways.packet_ids.push_back(id);
            }
        }
        return ways;
    }

  private:
    struct Step {
        program::TileCoordinate tile;
        Port in;
    };
    struct Followed {
        program::Route route;
        bool wired = false;  // a part of its way is an aie.flow
    };

    std::optional<Port> entry_of(const program::ChannelId& source, program::TileKind kind) const {
        if (kind != program::TileKind::Shim) {
            return Port{"dma", source.index};
        }
        const auto mux = settings_.muxes().find(source.tile);
        if (mux == settings_.muxes().end()) {
            return std::nullopt;
        }
        const auto entry = mux->second.entry.find(source.index);
        return entry == mux->second.entry.end() ? std::nullopt
                                                : std::optional{Port{"south", entry->second}};
    }

    Followed follow(const program::ChannelId& source, const Port& entry,
                    std::optional<std::int64_t> packet_id) {
        Followed followed;
        program::Route& route = followed.route;
        route.source = source;
        route.packet_id = packet_id;
        std::deque<Step> open{{source.tile, entry}};
        std::set<std::pair<program::TileCoordinate, Port>> seen;
        while (!open.empty()) {
            const Step step = open.front();
            open.pop_front();
            if (!seen.insert({step.tile, step.in}).second) {
                continue;
            }
            const auto wires = wires_.find({step.tile, step.in});
            if (wires != wires_.end()) {
                followed.wired = true;
                for (const TilePort& end : wires->second) {
                    leave(route, {end.first, step.in}, end.second, std::nullopt, open);
                }
                continue;
            }
            const auto box = settings_.switches().find(step.tile);
            if (box == settings_.switches().end()) {
                continue;
            }
            const auto circuits = box->second.circuits.find(step.in);
            if (circuits != box->second.circuits.end()) {
                for (const Port& out : circuits->second) {
                    leave(route, step, out, std::nullopt, open);
                }
            } else if (packet_id) {
                follow_rules(route, step, box->second, *packet_id, open);
            }
        }
        return followed;
    }

    // Whether the stream arrives anywhere.
    bool trace(const program::ChannelId& source, const Port& entry,
               std::optional<std::int64_t> packet_id) {
        auto [route, wired] = follow(source, entry, packet_id);
        if (route.destinations.empty()) {
            return false;
        }
        if (!wired && leads_nowhere(route)) {
            return false;
        }
        if (wired) {
            route.path.clear();  // the router's, all of it: a part of the way is not stated
        }
        route.name = unique_name(lowering_.program.routes,
                                 packet_id ? fmt::format("packet{}", *packet_id) : "stream");
        lowering_.program.routes.push_back(std::move(route));
        return true;
    }

    // Where a branch of the stream leads to no receiver, all of it stands: every branch must take a
    // word before the next one comes.
    bool leads_nowhere(const program::Route& route) {
        const auto end = std::find_if(route.path.begin(), route.path.end(), [&](const auto& hop) {
            const auto next = stream::wire_from({hop.tile, hop.out});
            return next && lowering_.config.contains(next->tile) &&
                   std::none_of(route.path.begin(), route.path.end(), [&next](const auto& other) {
                       return other.tile == next->tile && other.in == next->port;
                   });
        });
        if (end == route.path.end()) {
            return false;
        }
        lowering_.note(fmt::format(
            "the stream from tile {},{} MM2S {} has a branch that leaves tile {},{} and no switch "
            "takes: its words stand on the machine, and here no route takes them",
            route.source.tile.column, route.source.tile.row, route.source.index, end->tile.column,
            end->tile.row));
        return true;
    }

    // Of those that end here: a DMA channel's port drops headers, a core's does not, unless stated.
    bool keeps_header(program::TileCoordinate tile, const Master& master) const {
        const std::string& bundle = master.port.bundle;
        const bool shim = lowering_.config.kind_of(tile) == program::TileKind::Shim;
        if (bundle == "core") {
            return master.keep_header.value_or(true);
        }
        return (bundle == "dma" || (shim && bundle == "south")) &&
               master.keep_header.value_or(false);
    }

    void follow_rules(program::Route& route, const Step& step, const Switch& box,
                      std::int64_t packet_id, std::deque<Step>& open) {
        const auto rules = box.rules.find(step.in);
        if (rules == box.rules.end()) {
            return;
        }
        for (const Rule& rule : rules->second) {
            if ((packet_id & rule.mask) != (rule.value & rule.mask)) {
                continue;
            }
            const auto masters = box.masters.find(rule.select);
            if (masters != box.masters.end()) {
                for (const Master& master : masters->second) {
                    const std::size_t before = route.destinations.size();
                    leave(route, step, master.port, rule.select.arbiter, open);
                    for (std::size_t i = before; i < route.destinations.size(); ++i) {
                        const bool keeps = keeps_header(step.tile, master);
                        route.keep_header |= keeps;
                        if (!keeps) {
                            route.without_header.push_back(route.destinations[i]);
                        }
                    }
                }
            }
            return;  // the first match wins
        }
    }

    void leave(program::Route& route, const Step& step, const Port& out,
               std::optional<std::int64_t> arbiter, std::deque<Step>& open) {
        const program::TileKind kind = lowering_.config.kind_of(step.tile);
        const auto slave = step.in.of_switch();
        const auto master = out.of_switch();
        if (!slave || !master) {
            return;
        }
        const program::Hop hop{step.tile, *slave, *master, arbiter};
        std::optional<program::ChannelId> destination;
        if (kind == program::TileKind::Shim && out.bundle == "south") {
            const auto mux = settings_.muxes().find(step.tile);
            if (mux != settings_.muxes().end() && mux->second.exit.contains(out.index)) {
                destination = {step.tile, program::Direction::S2MM, mux->second.exit.at(out.index)};
            }
        } else if (out.bundle == "dma") {
            destination = {step.tile, program::Direction::S2MM, out.index};
        } else if (out.bundle == "core") {
            destination = {step.tile, program::Direction::S2MM, out.index, program::PortKind::Core};
            if (!ports_.contains(*destination)) {
                return;
            }
        }
        if (destination) {
            route.destinations.push_back(*destination);
            route.path.push_back(hop);
            return;
        }
        const auto next = stream::wire_from({step.tile, *master});
        if (next && lowering_.config.contains(next->tile)) {
            route.path.push_back(hop);
            open.push_back(
                {next->tile, {std::string{name_of(next->port.bundle)}, next->port.index}});
        }
    }

    Lowering& lowering_;
    const std::set<program::ChannelId> ports_ = ports_in_use(lowering_.program);
    const std::map<TilePort, std::vector<TilePort>>& wires_;
    SwitchSettings settings_;
};

// The receivers of a flow that no route made by the switchboxes reaches.
std::vector<program::ChannelId> unreached(const program::Program& program, const Flow& flow) {
    std::vector<program::ChannelId> missing;
    for (const program::ChannelId& to : flow.destinations) {
        const bool made = std::any_of(
            program.routes.begin(), program.routes.end(), [&](const program::Route& route) {
                return route.source == flow.source && route.packet_id == flow.packet_id &&
                       std::find(route.destinations.begin(), route.destinations.end(), to) !=
                           route.destinations.end();
            });
        if (!made) {
            missing.push_back(to);
        }
    }
    return missing;
}

// A flow as a route for the router to make.
program::Route unrouted(const program::Program& program, const Flow& flow) {
    program::Route route;
    route.where = flow.where;
    route.name = unique_name(program.routes,
                             flow.packet_id ? fmt::format("packet{}", *flow.packet_id) : "stream");
    route.source = flow.source;
    route.destinations = flow.destinations;
    route.packet_id = flow.packet_id;
    route.keep_header = flow.keep_header;
    route.without_header = flow.without_header;
    return route;
}

}  // namespace

void lower_routes(Lowering& lowering, const Operation& routed) {
    const auto [flows, wires] = read_flows(lowering);
    Switches switches(lowering, routed, wires);
    name_headers(lowering, [&flows = flows, &switches](const program::ChannelId& source) {
        Ways ways = switches.ways_from(source);
        for (const Flow& flow : flows) {
            if (flow.source == source && !flow.packet_id) {
                ways.circuit = true;
            } else if (flow.source == source &&
                       std::find(ways.packet_ids.begin(), ways.packet_ids.end(), *flow.packet_id) ==
                           ways.packet_ids.end()) {
                ways.packet_ids.push_back(*flow.packet_id);
            }
        }
        return ways;
    });
    switches.trace_all();
    switches.add_merges();
    const bool result_of_routing = &routed != &lowering.device;
    for (const Flow& flow : flows) {
        const auto missing = unreached(lowering.program, flow);
        if (missing.size() == flow.destinations.size() && !result_of_routing) {
            lowering.program.routes.push_back(unrouted(lowering.program, flow));
        } else if (!missing.empty()) {
            lowering.note(fmt::format(
                "line {}: the switchboxes do not carry this flow from tile {},{} to tile {},{}, or "
                "nothing sends it",
                flow.where.line, flow.source.tile.column, flow.source.tile.row,
                missing.front().tile.column, missing.front().tile.row));
        }
    }
    name_core_packets(lowering);
}

}  // namespace tilesim::workloads::npu::mlir::routes
