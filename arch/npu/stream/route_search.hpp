// What a search of the graph of switch ports knows: how far it still is, what it has seen, where it
// ends. The router's (router.cpp).
#pragma once

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/astar_search.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "arch/npu/stream/stream_switch.hpp"

namespace tilesim::arch::npu::stream {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                    boost::property<boost::edge_weight_t, std::int64_t>>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

struct Arrived {};  // thrown to end a search

// Steps to a port of a tile, at what one costs at least; what a search must still pay.
class Distance : public boost::astar_heuristic<Graph, std::int64_t> {
  public:
    Distance(const std::vector<TilePort>& ports, program::TileCoordinate to, std::int64_t step)
        : ports_(ports), to_(to), step_(step) {}
    std::int64_t operator()(Vertex vertex) const {
        const program::TileCoordinate at = ports_[vertex].tile;
        return step_ * (std::abs(at.column - to_.column) + std::abs(at.row - to_.row));
    }

  private:
    const std::vector<TilePort>& ports_;
    program::TileCoordinate to_;
    std::int64_t step_;
};

// What a search knows of each vertex. A route sees few of an array's: only those are forgotten
// before the next.
class Seen {
  public:
    static constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max();

    void resize(std::size_t vertices) {
        distance.assign(vertices, kUnreached);
        cost.assign(vertices, kUnreached);
        colour.assign(vertices, boost::white_color);
        before.resize(vertices);
        std::iota(before.begin(), before.end(), Vertex{0});
    }
    void note(Vertex vertex) { noted_.push_back(vertex); }
    void forget() {
        for (const Vertex vertex : noted_) {
            distance[vertex] = cost[vertex] = kUnreached;
            colour[vertex] = boost::white_color;
            before[vertex] = vertex;
        }
        noted_.clear();
    }

    std::vector<std::int64_t> distance, cost;
    std::vector<boost::default_color_type> colour;
    std::vector<Vertex> before;  // itself: where the search began

  private:
    std::vector<Vertex> noted_;
};

// Ends a search at the first slave port of the tile from which its destination can be reached.
template <class Ends>
class Arrival : public boost::default_astar_visitor {
  public:
    Arrival(Ends ends, Seen& seen, Vertex& at) : ends_(ends), seen_(seen), at_(at) {}
    template <class AnyGraph>
    void discover_vertex(Vertex vertex, const AnyGraph&) {
        seen_.note(vertex);
    }
    template <class AnyGraph>
    void examine_vertex(Vertex vertex, const AnyGraph&) {
        if (ends_(vertex)) {
            at_ = vertex;
            throw Arrived{};
        }
    }

  private:
    Ends ends_;
    Seen& seen_;
    Vertex& at_;
};

}  // namespace tilesim::arch::npu::stream
