#include "arch/npu/check/marked_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <cmath>
#include <map>
#include <utility>

#include "arch/npu/check/tightest_cycle.hpp"

namespace tilesim::arch::npu::check {

namespace {

constexpr double kTolerance = 1e-9;  // of rates and token counts, which are small fractions

using Untimed = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

}  // namespace

MarkedGraph::Node MarkedGraph::add_node(Frame frame, std::string name) {
    names_.push_back(std::move(name));
    frame_of_.push_back(frame);
    return names_.size() - 1;
}

void MarkedGraph::add_edge(Node a, Node b, double time, double tokens, bool at_once) {
    edges_.push_back({a, b, time, tokens, at_once});
}

void MarkedGraph::relate(Frame a, double weight_a, Frame b, double weight_b) {
    if (weight_a > 0 && weight_b > 0) {
        relations_.push_back({a, b, weight_a / weight_b});
    }
}

void MarkedGraph::solve_rates() {
    std::multimap<Frame, std::pair<Frame, double>> neighbours;
    for (const Relation& relation : relations_) {
        neighbours.insert({relation.a, {relation.b, relation.ratio}});
        neighbours.insert({relation.b, {relation.a, 1 / relation.ratio}});
    }
    for (Frame seed = 0; seed < rates_.size(); ++seed) {
        if (rates_[seed] > 0) {
            continue;
        }
        rates_[seed] = 1;
        component_[seed] = seed;
        std::vector<Frame> open{seed};
        while (!open.empty()) {
            const Frame from = open.back();
            open.pop_back();
            const auto [begin, end] = neighbours.equal_range(from);
            for (auto each = begin; each != end; ++each) {
                const auto [to, ratio] = each->second;
                if (rates_[to] == 0) {
                    rates_[to] = rates_[from] * ratio;
                    component_[to] = seed;
                    open.push_back(to);
                }
            }
        }
    }
}

// Whether the relation between the edge's frames holds at the rates found.
bool MarkedGraph::consistent(const Edge& edge) const {
    const Frame a = frame_of_[edge.a];
    const Frame b = frame_of_[edge.b];
    return a == b || std::all_of(relations_.begin(), relations_.end(), [&](const Relation& each) {
               const bool same = (each.a == a && each.b == b) || (each.a == b && each.b == a);
               return !same ||
                      std::abs(rates_[each.a] * each.ratio / rates_[each.b] - 1) < kTolerance;
           });
}

std::vector<std::string> MarkedGraph::stuck_cycle() const {
    Untimed graph(names_.size());
    for (const Edge& edge : edges_) {
        if (edge.at_once) {
            boost::add_edge(edge.a, edge.b, graph);
        }
    }
    std::vector<std::size_t> component(names_.size());
    const std::size_t components = boost::strong_components(
        graph, boost::make_iterator_property_map(component.begin(),
                                                 boost::get(boost::vertex_index, graph)));
    std::vector<std::size_t> size(components, 0);
    for (const std::size_t each : component) {
        ++size[each];
    }
    const auto first = std::find_if(component.begin(), component.end(),
                                    [&](std::size_t each) { return size[each] > 1; });
    if (first == component.end()) {
        return {};
    }
    // Along edges of the component until a node comes again.
    std::vector<Node> path;
    Node at = static_cast<Node>(first - component.begin());
    while (std::find(path.begin(), path.end(), at) == path.end()) {
        path.push_back(at);
        const auto [begin, end] = boost::adjacent_vertices(at, graph);
        at = *std::find_if(begin, end, [&](Node to) { return component[to] == *first; });
    }
    std::vector<std::string> names;
    for (auto node = std::find(path.begin(), path.end(), at); node != path.end(); ++node) {
        names.push_back(names_[*node]);
    }
    return names;
}

std::size_t MarkedGraph::nodes_with(Frame frame) const {
    return static_cast<std::size_t>(std::count_if(
        frame_of_.begin(), frame_of_.end(), [&](Frame each) { return connected(each, frame); }));
}

std::optional<MarkedGraph::Ratio> MarkedGraph::period(Frame frame) const {
    std::vector<Node> nodes;  // in the frame's part of the graph
    std::vector<std::size_t> place(names_.size());
    for (Node node = 0; node < names_.size(); ++node) {
        place[node] = nodes.size();
        if (connected(frame_of_[node], frame)) {
            nodes.push_back(node);
        }
    }
    std::vector<TimedEdge> edges;
    for (const Edge& edge : edges_) {
        if (connected(frame_of_[edge.a], frame) && consistent(edge)) {
            const double tokens = edge.tokens / rates_[frame_of_[edge.a]];
            edges.push_back({place[edge.a], place[edge.b], edge.time, tokens});
        }
    }
    const std::optional<TightestCycle> tightest = tightest_cycle(nodes.size(), edges);
    if (!tightest) {
        return std::nullopt;
    }
    Ratio result{tightest->ratio / rates_[frame], frame, {}};
    for (const std::size_t node : tightest->nodes) {
        result.critical.push_back(names_[nodes[node]]);
    }
    return result;
}

}  // namespace tilesim::arch::npu::check
