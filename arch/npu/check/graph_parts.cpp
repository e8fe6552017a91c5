#include "arch/npu/check/graph_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tilesim::arch::npu::check {

namespace {

std::int64_t modulo(std::int64_t a, std::int64_t b) {
    return (a % b + b) % b;
}

}  // namespace

void GraphParts::use_lock(const std::string& agent, MarkedGraph::Frame frame,
                          MarkedGraph::Node node, const std::optional<program::LockAction>& action,
                          bool acquire) {
    if (!action) {
        return;
    }
    LockUse& use = locks[static_cast<std::size_t>(action->lock)];
    if (acquire) {
        use.usable = use.usable && action->value < 0;  // waiting for equality takes nothing
        use.acquires[agent].add(frame, node, -action->value);
    } else {
        use.releases[agent].add(frame, node, action->value);
    }
}

void GraphParts::leave_out(const std::optional<program::LockAction>& action) {
    if (action) {
        locks[static_cast<std::size_t>(action->lock)].usable = false;
    }
}

void GraphParts::add_edges(const Points& from, const Points& to, std::int64_t initially,
                           double each) {
    const std::int64_t p = from.round;
    const std::int64_t g = std::gcd(p, to.round);
    graph.relate(*from.frame, static_cast<double>(p), *to.frame, static_cast<double>(to.round));
    for (const Point& take : to.list) {
        for (const Point& give : from.list) {
            // In round n of its frame, n R + a + 1 more than earlier gives of the round are
            // needed: round floor((n R + a) / p) of the giver must have come to this point.
            const std::int64_t a = take.before + take.amount - initially - give.before - 1;
            const double tokens =
                static_cast<double>(p - g + modulo(a, g) - a) / static_cast<double>(p);
            const double time = each * static_cast<double>(std::min(modulo(a, g) + 1, give.amount));
            graph.add_edge(give.node, take.node, time, tokens, a >= 0);
        }
    }
}

std::string tile_agent(program::TileCoordinate tile) {
    return fmt::format("tile({},{})", tile.column, tile.row);
}

}  // namespace tilesim::arch::npu::check
