// What the parts of a program's graph share: the graph, and who gives and takes what of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/npu/check/marked_graph.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// Something a round of a frame gives or takes, in order: lock credits or words.
struct Point {
    MarkedGraph::Node node;
    std::int64_t amount;
    std::int64_t before;  // given or taken earlier in the same round
};

// All the points of one agent on one lock or stream; of use when they lie in one frame.
struct Points {
    std::optional<MarkedGraph::Frame> frame;
    bool usable = true;
    std::int64_t round = 0;  // amount of a whole round
    std::vector<Point> list;

    void add(MarkedGraph::Frame in, MarkedGraph::Node node, std::int64_t amount) {
        usable = usable && (!frame || *frame == in) && amount > 0;
        frame = in;
        list.push_back({node, amount, round});
        round += amount;
    }
};

struct Ends {  // of a chain's descriptors, or of a core's operations on a port, in words
    Points begins, ends;
};

struct LockUse {
    std::map<std::string, Points> releases, acquires;  // by agent
    bool usable = true;
};

struct GraphParts {
    explicit GraphParts(const program::Program& program) : locks(program.locks.size()) {}

    MarkedGraph graph;
    std::vector<LockUse> locks;                          // as Program::locks
    std::map<program::TileCoordinate, Ends> puts, gets;  // on cascades
    std::map<program::ChannelId, Ends> ports;            // of cores' own streams

    void use_lock(const std::string& agent, MarkedGraph::Frame frame, MarkedGraph::Node node,
                  const std::optional<program::LockAction>& action, bool acquire);
    // Nothing follows from the lock any more.
    void leave_out(const std::optional<program::LockAction>& action);
    // Happenings of `to` need those of `from` because what they take, in order, less `initially`
    // there, must have been given. `from` gives at its points' nodes, `each` cycles after the one
    // before.
    void add_edges(const Points& from, const Points& to, std::int64_t initially, double each);
};

// "tile(0,2)", the begin of an agent's name.
std::string tile_agent(program::TileCoordinate tile);

}  // namespace tilesim::arch::npu::check
