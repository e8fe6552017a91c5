#include "arch/npu/stream/router.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/graph/astar_search.hpp>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/config.hpp"
#include "arch/npu/stream/arbiters.hpp"
#include "arch/npu/stream/route_search.hpp"
#include "arch/npu/stream/stream_switch.hpp"

namespace tilesim::arch::npu::stream {

namespace {

// Weights. A route takes as few new wires as it can, and among those ways the shortest; packets
// share a wire rather than go round.
constexpr std::int64_t kStep = 1;            // a wire the route has already
constexpr std::int64_t kWire = 1'000;        // a new one
constexpr std::int64_t kShared = 2'000;      // one other packets pass
constexpr std::int64_t kFull = 100'000'000;  // taken

// Where one route after the other finds no way for all, they bid for wires, so often at most.
constexpr std::int64_t kMostRounds = 60;
constexpr std::int64_t kPatience = 15;  // rounds in which no fewer wires are fought for

// Those that lead to a neighbour.
constexpr Bundle kWires[] = {Bundle::North, Bundle::South, Bundle::East, Bundle::West};

class Router {
  public:
    Router(program::Program& program, const NpuConfig& config)
        : program_(program), config_(config) {
        add_ports();
        add_wires();
        seen_.resize(ports_.size());
    }

    void run() {
        std::vector<program::Route*> open;
        for (program::Route& route : program_.routes) {
            for (const program::Hop& hop : route.path) {  // pinned by the user
                take({hop.tile, hop.out}, route);
                pinned_.insert({hop.tile, hop.out});
            }
            if (route.path.empty()) {
                open.push_back(&route);
            }
        }
        for (program::Route* route : open) {
            if (!make(*route)) {
                negotiate(open, {route, crowded_});
                return;
            }
        }
    }

  private:
    // The slave ports words can enter a switch by: graph vertices.
    void add_ports() {
        for (std::int64_t column = 0; column < config_.columns; ++column) {
            for (std::int64_t row = 0; config_.contains({column, row}); ++row) {
                const program::TileCoordinate tile{column, row};
                for (const Bundle bundle : {Bundle::Core, Bundle::Dma, Bundle::South, Bundle::West,
                                            Bundle::North, Bundle::East}) {
                    const std::int64_t count =
                        ports_of(config_, config_.kind_of(tile), bundle, PortSide::Slave);
                    for (std::int64_t index = 0; index < count; ++index) {
                        vertices_[{tile, {bundle, index}}] = boost::add_vertex(graph_);
                        ports_.push_back({tile, {bundle, index}});
                    }
                }
            }
        }
    }

    // A way through a switch and over the wire behind it: graph edges.
    void add_wires() {
        for (Vertex from = 0; from < ports_.size();) {
            const program::TileCoordinate tile = ports_[from].tile;
            const program::TileKind kind = config_.kind_of(tile);
            const std::vector<Wire> wires = wires_of(tile);
            for (; from < ports_.size() && ports_[from].tile == tile; ++from) {
                for (const Wire& wire : wires) {
                    if (can_cross(kind, ports_[from].port, wire.master)) {
                        wire.edges->push_back(boost::add_edge(from, wire.to, kWire, graph_).first);
                    }
                }
            }
        }
    }

    // A wire from a tile's switch to a neighbour, and the edges that end with it.
    struct Wire {
        SwitchPort master;
        Vertex to;
        std::vector<Edge>* edges;
    };
    std::vector<Wire> wires_of(program::TileCoordinate tile) {
        std::vector<Wire> wires;
        for (const Bundle bundle : kWires) {
            const std::int64_t count =
                ports_of(config_, config_.kind_of(tile), bundle, PortSide::Master);
            for (std::int64_t index = 0; index < count; ++index) {
                const SwitchPort master{bundle, index};
                const auto to = vertices_.find(*wire_from({tile, master}));
                if (to != vertices_.end()) {
                    wires.push_back({master, to->second, &wires_[{tile, master}]});
                }
            }
        }
        return wires;
    }

    void weigh(TilePort master, std::int64_t weight) {
        const auto wires = wires_.find(master);
        if (wires != wires_.end()) {
            for (const Edge& edge : wires->second) {
                boost::put(boost::edge_weight, graph_, edge, weight);
            }
        }
    }

    void take(TilePort master, const program::Route& route) {
        owners_[master].push_back(&route);
        weigh(master, price_of(master));
    }

    // Of a wire that others have: none can, or, while routes bid, each can for a price a head that
    // rises with the rounds.
    std::int64_t price_of(TilePort master) const {
        if (round_ == 0 || pinned_.contains(master)) {
            return kFull;
        }
        const auto owners = owners_.find(master);
        const std::size_t others = owners == owners_.end() ? 0 : owners->second.size();
        return kWire + kWire * round_ * static_cast<std::int64_t>(others);
    }

    void give_up(program::Route& route) {
        for (const program::Hop& hop : route.path) {
            const TilePort master{hop.tile, hop.out};
            std::vector<const program::Route*>& owners = owners_[master];
            owners.erase(std::remove(owners.begin(), owners.end(), &route), owners.end());
            if (owners.empty()) {
                owners_.erase(master);
            }
            weigh(master, round_ == 0 ? kWire : price_of(master));
        }
        route.path.clear();
    }

    // How many wires are asked to carry more than they can.
    std::int64_t fought_for() const {
        return std::count_if(owners_.begin(), owners_.end(), [this](const auto& each) {
            return std::any_of(
                each.second.begin(), each.second.end(),
                [&](const program::Route* route) { return !shareable(each.first, *route); });
        });
    }

    // Negotiated congestion (McMurchie and Ebeling's PathFinder, as the compiler's own router has
    // it): every route takes its cheapest way, whoever else is there, until none share what they
    // cannot. `first`: the route that found no way, and where to, for the message.
    void negotiate(const std::vector<program::Route*>& open,
                   std::pair<const program::Route*, program::TileCoordinate> first) {
        for (program::Route* route : open) {
            give_up(*route);
        }
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t last = 0;  // round that had fewer than any before
        for (round_ = 1; round_ <= kMostRounds && round_ - last <= kPatience; ++round_) {
            for (program::Route* route : open) {
                give_up(*route);
                if (!make(*route)) {  // past what is pinned there is none
                    fail(*route, crowded_, kNoStream);
                }
            }
            const std::int64_t left = fought_for();
            if (left == 0) {
                return;
            }
            if (left < least) {
                least = left;
                last = round_;
            }
        }
        fail(*first.first, first.second, kNoStream);
    }

    bool shareable(TilePort master, const program::Route& route) const {
        const auto owners = owners_.find(master);
        return owners == owners_.end() || std::all_of(owners->second.begin(), owners->second.end(),
                                                      [&](const program::Route* other) {
                                                          return other == &route ||
                                                                 can_share(route, *other);
                                                      });
    }

    // False where a destination is past what others have taken: `crowded_` is its tile.
    bool make(program::Route& route) {
        std::vector<TilePort> opened;
        for (const auto& [master, owners] : owners_) {
            if (route.packet_id && shareable(master, route)) {
                weigh(master, kShared);
                opened.push_back(master);
            }
        }
        tree_.clear();
        const bool all = std::all_of(
            route.destinations.begin(), route.destinations.end(),
            [&](const program::ChannelId& destination) { return reach(route, destination); });
        for (const TilePort& master : opened) {
            weigh(master, price_of(master));
        }
        for (const program::Hop& hop : route.path) {
            take({hop.tile, hop.out}, route);
        }
        return all;
    }

    bool reach(program::Route& route, const program::ChannelId& destination) {
        const TilePort out{destination.tile,
                           port_of(destination, config_.kind_of(destination.tile))};
        if (!shareable(out, route)) {
            std::vector<std::string> names;
            for (const program::Route* owner : owners_.at(out)) {
                names.push_back(owner->name);
            }
            fail(route, destination.tile,
                 fmt::format("its port {} already belongs to {}", name_of(out.port),
                             fmt::join(names, ", ")));
        }
        const std::optional<Vertex> end = search(route, out);
        if (!end) {
            crowded_ = out.tile;
            return false;
        }
        const std::vector<Vertex>& before = seen_.before;
        // The way back to the source; what the route has already is not added again.
        std::vector<program::Hop> added{{out.tile, ports_[*end].port, out.port}};
        for (Vertex at = *end; before[at] != at; at = before[at]) {
            const TilePort& from = ports_[before[at]];
            const SwitchPort master = master_between(from.tile, ports_[at]);
            if (!tree_.insert({from, master}).second) {
                break;
            }
            added.push_back({from.tile, from.port, master});
            weigh({from.tile, master}, kFull);  // bound to one slave
            boost::put(boost::edge_weight, graph_, boost::edge(before[at], at, graph_).first,
                       kStep);
        }
        route.path.insert(route.path.end(), added.rbegin(), added.rend());
        return true;
    }

    static SwitchPort master_between(program::TileCoordinate from, const TilePort& to) {
        for (const Bundle bundle : kWires) {
            const SwitchPort master{bundle, to.port.index};
            if (wire_from({from, master}) == to) {
                return master;
            }
        }
        return to.port;
    }

    // The slave port of the destination's tile the best way ends at; nothing where none leads
    // there.
    std::optional<Vertex> search(const program::Route& route, const TilePort& out) {
        const TilePort start{route.source.tile,
                             port_of(route.source, config_.kind_of(route.source.tile))};
        const program::TileKind kind = config_.kind_of(out.tile);
        const auto ends = [&](Vertex vertex) {
            return ports_[vertex].tile == out.tile &&
                   can_cross(kind, ports_[vertex].port, out.port) && seen_.distance[vertex] < kFull;
        };
        seen_.forget();
        const Vertex from = vertices_.at(start);
        // While routes bid, a way that has no part yet pays for each of its wires.
        const Distance distance(ports_, out.tile, round_ > 0 && tree_.empty() ? kWire : kStep);
        seen_.distance[from] = 0;
        seen_.cost[from] = distance(from);
        const auto index = boost::get(boost::vertex_index, graph_);
        const auto map_of = [&index](auto& values) {
            return boost::make_iterator_property_map(values.begin(), index);
        };
        Vertex at = 0;
        try {
            boost::astar_search_no_init(
                graph_, from, distance, Arrival(ends, seen_, at), map_of(seen_.before),
                map_of(seen_.cost), map_of(seen_.distance), boost::get(boost::edge_weight, graph_),
                map_of(seen_.colour), index, std::less<>(),
                boost::closed_plus<std::int64_t>(Seen::kUnreached), Seen::kUnreached,
                std::int64_t{0});
        } catch (const Arrived&) {
            return at;
        }
        return std::nullopt;
    }

    static constexpr const char* kNoStream = "every stream on the way is taken";
    [[noreturn]] void fail(const program::Route& route, program::TileCoordinate tile,
                           const std::string& why) const {
        throw base::config::ConfigError(fmt::format("route {}: no way into tile {},{}: {}",
                                                    route.name, tile.column, tile.row, why));
    }

    program::Program& program_;
    const NpuConfig& config_;
    Graph graph_;
    std::vector<TilePort> ports_;  // by vertex
    std::map<TilePort, Vertex> vertices_;
    std::map<TilePort, std::vector<Edge>> wires_;                    // by the master they leave by
    std::map<TilePort, std::vector<const program::Route*>> owners_;  // by master
    std::set<std::pair<TilePort, SwitchPort>> tree_;  // crossings the present route has
    std::set<TilePort> pinned_;                       // masters of ways the user states
    std::int64_t round_ = 0;                          // of bidding; 0: first come, first served
    program::TileCoordinate crowded_;
    Seen seen_;
};

// The crossing before one; nothing where that begins with the source.
const program::Hop* hop_before(const program::Route& route, const program::Hop& hop) {
    const auto place =
        std::find_if(route.path.begin(), route.path.end(), [&hop](const program::Hop& each) {
            return wire_from({each.tile, each.out}) == TilePort{hop.tile, hop.in};
        });
    return place == route.path.end() ? nullptr : &*place;
}

}  // namespace

bool can_share(const program::Route& a, const program::Route& b) {
    return a.packet_id && b.packet_id &&
           (a.packet_id != b.packet_id || a.destinations == b.destinations);
}

void route(program::Program& program, const NpuConfig& config) {
    Router(program, config).run();
    share_arbiters(program);
}

std::int64_t hops(const program::Route& route, std::size_t destination) {
    const program::TileCoordinate tile = route.destinations[destination].tile;
    const program::Hop* hop = nullptr;
    for (const program::Hop& candidate : route.path) {
        const Bundle bundle = candidate.out.bundle;
        const bool into_dma = bundle == Bundle::Dma || bundle == Bundle::Core ||
                              (tile.row == 0 && bundle == Bundle::South);
        if (candidate.tile == tile && into_dma) {
            hop = &candidate;
        }
    }
    std::int64_t count = 0;
    while (hop != nullptr && count <= static_cast<std::int64_t>(route.path.size())) {
        ++count;
        hop = hop_before(route, *hop);
    }
    return count;
}

}  // namespace tilesim::arch::npu::stream
