// A timed marked graph: what must have happened before what, how much later, and how many rounds
// may lie between.
//
// A node is something that happens once in every round of its frame (a block executed again and
// again: a chain of descriptors, the body of a loop). An edge from a to b with time t and n tokens
// says: b's happening in a round comes at least t cycles after a's happening n rounds earlier. A
// cycle of edges then takes at least (its times / its tokens) cycles a round, the largest such
// ratio bounds the steady-state period from below, and a cycle without a token can never move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilesim::arch::npu::check {

class MarkedGraph {
  public:
    using Frame = std::size_t;
    using Node = std::size_t;

    Frame add_frame() {
        rates_.push_back(0);
        component_.push_back(0);
        return rates_.size() - 1;
    }
    Node add_node(Frame frame, std::string name);
    // `tokens`: rounds of a's frame. `at_once`: already b's first happening needs one of a's.
    void add_edge(Node a, Node b, double time, double tokens, bool at_once);
    // In the long run rounds of a times weight_a are rounds of b times weight_b. Edges between
    // frames for which that cannot hold are left out of the ratio.
    void relate(Frame a, double weight_a, Frame b, double weight_b);

    // Gives every frame its rate; call once, when everything is added.
    void solve_rates();

    // Nodes of a cycle none of which can happen a first time; empty when there is none.
    std::vector<std::string> stuck_cycle() const;

    struct Ratio {
        double cycles = 0;  // of one round of `frame`
        Frame frame = 0;
        std::vector<std::string> critical;  // the nodes of the tightest cycle
    };
    // The largest ratio among the frames connected with `frame`; nothing when they hold no cycle
    // or one without tokens.
    std::optional<Ratio> period(Frame frame) const;
    double rate(Frame frame) const { return rates_[frame]; }
    bool connected(Frame a, Frame b) const { return component_[a] == component_[b]; }
    std::size_t nodes() const { return names_.size(); }
    std::size_t nodes_with(Frame frame) const;

  private:
    struct Edge {
        Node a, b;
        double time, tokens;
        bool at_once;
    };
    struct Relation {
        Frame a, b;
        double ratio;  // rate(b) / rate(a)
    };
    bool consistent(const Edge& edge) const;

    std::vector<double> rates_;  // rounds in a common stretch of time
    std::vector<std::size_t> component_;
    std::vector<Relation> relations_;
    std::vector<std::string> names_;
    std::vector<Frame> frame_of_;
    std::vector<Edge> edges_;
};

}  // namespace tilesim::arch::npu::check
