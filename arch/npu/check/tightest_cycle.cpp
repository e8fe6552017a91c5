#include "arch/npu/check/tightest_cycle.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <functional>
#include <iterator>
#include <utility>

namespace tilesim::arch::npu::check {

namespace {

constexpr double kFewTokens = 1e-9;  // an edge: token counts are small fractions
// What a path must grow by to count, of the longest edge: below it is rounding.
constexpr double kGrain = 1e-10;

// Longest paths that end at each node, over edges of given lengths. They grow for ever only around
// a cycle of positive length.
class LongestPaths {
  public:
    using Length = std::function<double(const TimedEdge&)>;

    LongestPaths(std::size_t nodes, const std::vector<TimedEdge>& edges)
        : edges_(edges), length_to_(nodes, 0.0) {}

    // A cycle of positive length, its edges from the last to the first; none: empty. Paths found
    // with other lengths are a start as good as any.
    std::vector<std::size_t> positive_cycle(const Length& length, double least_gain) {
        last_edge_.assign(length_to_.size(), kNone);
        grown_.assign(length_to_.size(), true);
        while (grow(length, least_gain)) {
            if (auto cycle = cycle_of_last_edges(); !cycle.empty()) {
                return cycle;
            }
        }
        return {};
    }

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    // Every path by one edge.
    bool grow(const Length& length, double least_gain) {
        std::vector<bool> grew(length_to_.size(), false);
        bool any = false;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            const TimedEdge& edge = edges_[i];
            if (!grown_[edge.from] && !grew[edge.from]) {
                continue;
            }
            const double longer = length_to_[edge.from] + length(edge);
            if (longer > length_to_[edge.to] + least_gain) {
                length_to_[edge.to] = longer;
                last_edge_[edge.to] = i;
                grew[edge.to] = any = true;
            }
        }
        grown_ = std::move(grew);
        return any;
    }

    // Where the last edges of paths come round, the way round was a gain.
    std::vector<std::size_t> cycle_of_last_edges() const {
        std::vector<std::size_t> seen_from(length_to_.size(), kNone);
        for (std::size_t start = 0; start < length_to_.size(); ++start) {
            std::size_t at = start;
            while (seen_from[at] == kNone && last_edge_[at] != kNone) {
                seen_from[at] = start;
                at = edges_[last_edge_[at]].from;
            }
            if (seen_from[at] == start && last_edge_[at] != kNone) {
                return cycle_at(at);
            }
        }
        return {};
    }

    std::vector<std::size_t> cycle_at(std::size_t node) const {
        std::vector<std::size_t> cycle;
        std::size_t at = node;
        do {
            cycle.push_back(last_edge_[at]);
            at = edges_[last_edge_[at]].from;
        } while (at != node);
        return cycle;
    }

    const std::vector<TimedEdge>& edges_;
    std::vector<double> length_to_;
    std::vector<std::size_t> last_edge_;  // of each node's longest path
    std::vector<bool> grown_;             // since edges from there were looked at
};

// Cycles consist of these; the others' numbers, those of endless loops among them, would only drown
// what is small.
std::vector<TimedEdge> edges_on_cycles(std::size_t nodes, const std::vector<TimedEdge>& edges) {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(nodes);
    for (const TimedEdge& edge : edges) {
        boost::add_edge(edge.from, edge.to, graph);
    }
    std::vector<std::size_t> component(nodes);
    boost::strong_components(graph, boost::make_iterator_property_map(
                                        component.begin(), boost::get(boost::vertex_index, graph)));
    std::vector<TimedEdge> inside;
    std::copy_if(
        edges.begin(), edges.end(), std::back_inserter(inside),
        [&component](const TimedEdge& edge) { return component[edge.from] == component[edge.to]; });
    return inside;
}

double longest_time(const std::vector<TimedEdge>& edges) {
    double most = 0;
    for (const TimedEdge& edge : edges) {
        most = std::max(most, edge.time);
    }
    return most;
}

TightestCycle cycle_of(const std::vector<TimedEdge>& edges, const std::vector<std::size_t>& way) {
    TightestCycle cycle;
    double time = 0, tokens = 0;
    for (auto each = way.rbegin(); each != way.rend(); ++each) {
        cycle.nodes.push_back(edges[*each].from);
        time += edges[*each].time;
        tokens += edges[*each].tokens;
    }
    cycle.ratio = time / tokens;
    return cycle;
}

}  // namespace

// Any cycle's ratio is a bound; one that beats it is longer than nothing where each token takes
// away as much time as that. The last one that is found is beaten by none.
std::optional<TightestCycle> tightest_cycle(std::size_t nodes, const std::vector<TimedEdge>& all) {
    const std::vector<TimedEdge> edges = edges_on_cycles(nodes, all);
    const bool stuck =
        !LongestPaths(nodes, edges)
             .positive_cycle([](const TimedEdge& edge) { return kFewTokens - edge.tokens; },
                             kFewTokens * kGrain)
             .empty();
    if (stuck) {
        return std::nullopt;
    }
    std::optional<TightestCycle> best;
    LongestPaths paths(nodes, edges);
    const double least_gain = kGrain * longest_time(edges);
    for (;;) {
        const double ratio = best ? best->ratio : 0;
        const auto way = paths.positive_cycle(
            [ratio](const TimedEdge& edge) { return edge.time - ratio * edge.tokens; }, least_gain);
        if (way.empty()) {
            return best;
        }
        TightestCycle next = cycle_of(edges, way);
        if (next.ratio <= ratio) {
            return best;  // no more than rounding
        }
        best = std::move(next);
    }
}

}  // namespace tilesim::arch::npu::check
