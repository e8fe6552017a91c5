#include "arch/npu/router.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/config.hpp"
#include "arch/npu/stream_switch.hpp"

namespace tilesim::arch::npu {

namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                    boost::property<boost::edge_weight_t, std::int64_t>>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

// A bundle of streams from a tile to its neighbour.
using Link = std::pair<TileCoordinate, Heading>;

constexpr std::int64_t kFull = 1'000'000;  // weight of a bundle without a free stream

class Router {
  public:
    Router(Program& program, const NpuConfig& config) : program_(program), config_(config) {
        for (std::int64_t column = 0; column < config.columns; ++column) {
            for (std::int64_t row = 0; row < rows(); ++row) {
                add_links({column, row});
            }
        }
    }

    void run() {
        for (const Route& route : program_.routes) {
            for (const Hop& hop : route.path) {  // pinned by the user
                owner_[{hop.tile, hop.out}].push_back(route.name);
            }
        }
        for (Route& route : program_.routes) {
            if (route.path.empty()) {
                make(route);
            }
        }
    }

  private:
    std::int64_t rows() const { return config_.rows(); }
    Vertex vertex(TileCoordinate tile) const {
        return static_cast<Vertex>(tile.column * rows() + tile.row);
    }

    void add_links(TileCoordinate tile) {
        for (const Heading heading :
             {Heading::North, Heading::South, Heading::East, Heading::West}) {
            const TileCoordinate to = neighbour(tile, heading);
            if (config_.contains(to) && streams_towards(config_.kind_of(tile), heading) > 0) {
                links_[{vertex(tile), vertex(to)}] = {tile, heading};
                boost::add_edge(vertex(tile), vertex(to), 1, graph_);
            }
        }
    }

    bool free(TileCoordinate tile, Heading heading, std::int64_t index) const {
        return !owner_.contains({tile, fmt::format("{}{}", name_of(heading), index)});
    }
    std::int64_t free_streams(const Link& link) const {
        std::int64_t count = 0;
        const std::int64_t all = streams_towards(config_.kind_of(link.first), link.second);
        for (std::int64_t i = 0; i < all; ++i) {
            count += free(link.first, link.second, i) ? 1 : 0;
        }
        return count;
    }

    void make(Route& route) {
        tree_.clear();
        tree_[route.source.tile] = dma_port(route.source, config_.kind_of(route.source.tile));
        for (const ChannelId& destination : route.destinations) {
            const std::vector<TileCoordinate> path = shortest_path(route, destination.tile);
            cross(route, path);
            const std::string out = dma_port(destination, config_.kind_of(destination.tile));
            auto& owners = owner_[{destination.tile, out}];
            if (!owners.empty() &&
                !(route.packet_id && packet_outputs_.contains({destination.tile, out}))) {
                fail(
                    route, destination.tile,
                    fmt::format("its port {} already belongs to {}", out, fmt::join(owners, ", ")));
            }
            owners.push_back(route.name);
            if (route.packet_id) {
                packet_outputs_.insert({destination.tile, out});
            }
            route.path.push_back({destination.tile, tree_.at(destination.tile), out});
        }
    }

    [[noreturn]] void fail(const Route& route, TileCoordinate tile, const std::string& why) const {
        throw base::config::ConfigError(fmt::format("route {}: no way into tile {},{}: {}",
                                                    route.name, tile.column, tile.row, why));
    }

    // Tiles from the nearest one of the route's tree to `to`.
    std::vector<TileCoordinate> shortest_path(const Route& route, TileCoordinate to) {
        auto weights = boost::get(boost::edge_weight, graph_);
        const auto [first, last] = boost::edges(graph_);
        for (auto edge = first; edge != last; ++edge) {
            const Link& link =
                links_.at({boost::source(*edge, graph_), boost::target(*edge, graph_)});
            const bool shared = tree_links_of(route).contains(link);
            weights[*edge] = shared ? 0 : free_streams(link) > 0 ? 1 : kFull;
        }
        std::vector<Vertex> before(boost::num_vertices(graph_));
        std::vector<std::int64_t> distance(boost::num_vertices(graph_));
        boost::dijkstra_shortest_paths(
            graph_, vertex(route.source.tile),
            boost::predecessor_map(boost::make_iterator_property_map(
                                       before.begin(), boost::get(boost::vertex_index, graph_)))
                .distance_map(boost::make_iterator_property_map(
                    distance.begin(), boost::get(boost::vertex_index, graph_))));
        if (distance[vertex(to)] >= kFull) {
            fail(route, to, "every stream on the way is taken");
        }
        std::vector<TileCoordinate> path;
        for (Vertex at = vertex(to);; at = before[at]) {
            const TileCoordinate tile{static_cast<std::int64_t>(at) / rows(),
                                      static_cast<std::int64_t>(at) % rows()};
            path.push_back(tile);
            if (tree_.contains(tile)) {
                break;
            }
        }
        std::reverse(path.begin(), path.end());
        return path;
    }

    static std::set<Link> tree_links_of(const Route& route) {
        std::set<Link> links;
        for (const Hop& hop : route.path) {
            for (const Heading heading :
                 {Heading::North, Heading::South, Heading::East, Heading::West}) {
                if (hop.out.starts_with(name_of(heading))) {
                    links.insert({hop.tile, heading});
                }
            }
        }
        return links;
    }

    // Takes a free stream on each link of the path.
    void cross(Route& route, const std::vector<TileCoordinate>& path) {
        std::optional<std::int64_t> bound;  // the index a memory tile passed straight prescribes
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            const auto [tile, heading] = links_.at({vertex(path[i]), vertex(path[i + 1])});
            const bool through = i + 2 < path.size() && keeps_index(config_.kind_of(path[i + 1]));
            const std::int64_t all = streams_towards(config_.kind_of(tile), heading);
            std::optional<std::int64_t> index;
            for (std::int64_t k = 0; k < all && !index; ++k) {
                const bool onwards = !through || free(path[i + 1], heading, k);
                if (free(tile, heading, k) && onwards && (!bound || *bound == k)) {
                    index = k;
                }
            }
            if (!index) {
                fail(route, path[i + 1], "no stream is free at the index the memory tile keeps");
            }
            const std::string out = fmt::format("{}{}", name_of(heading), *index);
            route.path.push_back({tile, tree_.at(tile), out});
            owner_[{tile, out}].push_back(route.name);
            tree_[path[i + 1]] = fmt::format("{}{}", name_of(opposite(heading)), *index);
            bound = through ? index : std::nullopt;
        }
    }

    Program& program_;
    const NpuConfig& config_;
    Graph graph_;
    std::map<std::pair<Vertex, Vertex>, Link> links_;
    std::map<std::pair<TileCoordinate, std::string>, std::vector<std::string>> owner_;
    std::set<std::pair<TileCoordinate, std::string>> packet_outputs_;
    std::map<TileCoordinate, std::string> tree_;  // tiles the present route reaches: its port in
};

// The tile behind a port such as "north3"; nothing when the port is no neighbour's.
std::optional<Hop> hop_into(const Route& route, TileCoordinate tile, const std::string& in) {
    for (const Hop& hop : route.path) {
        for (const Heading heading :
             {Heading::North, Heading::South, Heading::East, Heading::West}) {
            const std::string name = name_of(heading);
            if (hop.out.starts_with(name) && neighbour(hop.tile, heading) == tile &&
                in == name_of(opposite(heading)) + hop.out.substr(name.size())) {
                return hop;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

void route(Program& program, const NpuConfig& config) {
    Router(program, config).run();
}

std::int64_t hops(const Route& route, std::size_t destination) {
    const TileCoordinate tile = route.destinations[destination].tile;
    std::optional<Hop> hop;
    for (const Hop& candidate : route.path) {
        const bool into_dma = candidate.out.starts_with("dma") ||
                              candidate.out.starts_with("core") ||
                              (tile.row == 0 && candidate.out.starts_with("south"));
        if (candidate.tile == tile && into_dma) {
            hop = candidate;
        }
    }
    std::int64_t count = 0;
    while (hop && count <= static_cast<std::int64_t>(route.path.size())) {
        ++count;
        hop = hop_into(route, hop->tile, hop->in);
    }
    return count;
}

}  // namespace tilesim::arch::npu
