#include "arch/npu/check/tightest_cycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace tilesim::arch::npu::check {
namespace {

using Edges = std::vector<TimedEdge>;

TEST(TightestCycle, IsThatOfMostTimeAToken) {
    const Edges edges = {{0, 1, 7, 0}, {1, 0, 4, 2}, {0, 0, 5, 1}, {1, 2, 100, 0}};
    const auto cycle = tightest_cycle(3, edges);
    ASSERT_TRUE(cycle.has_value());
    EXPECT_DOUBLE_EQ(cycle->ratio, 5.5);
    EXPECT_EQ(cycle->nodes.size(), 2U);
}

TEST(TightestCycle, ACycleWithoutATokenHasNoRatio) {
    EXPECT_FALSE(tightest_cycle(2, Edges{{0, 1, 7, 0}, {1, 0, 4, 0}, {0, 0, 5, 1}}).has_value());
}

TEST(TightestCycle, WithoutACycleThereIsNone) {
    EXPECT_FALSE(tightest_cycle(3, Edges{{0, 1, 7, 1}, {1, 2, 4, 1}}).has_value());
}

TEST(TightestCycle, WhatEndlessLoopsCountBesideACycleDoesNotHideIt) {
    const auto cycle =
        tightest_cycle(3, Edges{{0, 1, 7, 0}, {1, 0, 4, 1}, {1, 2, 5e20, 4e18}, {0, 2, 0, -4e18}});
    ASSERT_TRUE(cycle.has_value());
    EXPECT_DOUBLE_EQ(cycle->ratio, 11);
}

// Every simple cycle from its least node on.
void look(const Edges& edges, std::size_t start, std::size_t at, std::vector<bool>& seen,
          double time, double tokens, double& most) {
    for (const TimedEdge& edge : edges) {
        if (edge.from != at || edge.to < start) {
            continue;
        }
        if (edge.to == start) {
            most = std::max(most, (time + edge.time) / (tokens + edge.tokens));
        } else if (!seen[edge.to]) {
            seen[edge.to] = true;
            look(edges, start, edge.to, seen, time + edge.time, tokens + edge.tokens, most);
            seen[edge.to] = false;
        }
    }
}

TEST(TightestCycle, IsTheOneThatAllCyclesLookedAtShow) {
    constexpr std::size_t kNodes = 7;
    std::mt19937 random(11);
    const auto draw = [&random](unsigned below) { return random() % below; };
    for (int graph = 0; graph < 200; ++graph) {
        Edges edges;
        for (int edge = 0; edge < 14; ++edge) {
            edges.push_back({draw(kNodes), draw(kNodes), static_cast<double>(1 + draw(1000)),
                             0.25 + static_cast<double>(draw(7))});
        }
        double most = 0;
        for (std::size_t start = 0; start < kNodes; ++start) {
            std::vector<bool> seen(kNodes, false);
            look(edges, start, start, seen, 0, 0, most);
        }
        const auto cycle = tightest_cycle(kNodes, edges);
        ASSERT_EQ(cycle.has_value(), most > 0);
        if (cycle) {
            EXPECT_NEAR(cycle->ratio, most, most * 1e-6);
        }
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::check
