#include "arch/npu/stream/arbiters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tilesim::arch::npu::stream {
namespace {

constexpr program::TileCoordinate kTile{3, 2};
constexpr program::SwitchPort kIn{program::Bundle::South, 1};
constexpr program::SwitchPort kNorth{program::Bundle::North, 0};
constexpr program::SwitchPort kEast{program::Bundle::East, 2};
constexpr program::SwitchPort kDma{program::Bundle::Dma, 1};

program::Route packet(std::int64_t id, std::vector<program::SwitchPort> masters) {
    program::Route route;
    route.packet_id = id;
    for (const program::SwitchPort& out : masters) {
        route.path.push_back({kTile, kIn, out});
    }
    return route;
}
std::vector<std::optional<std::int64_t>> arbiters(program::Program program) {
    share_arbiters(program);
    std::vector<std::optional<std::int64_t>> found;
    for (const program::Route& route : program.routes) {
        for (const program::Hop& hop : route.path) {
            found.push_back(hop.arbiter);
        }
    }
    return found;
}

TEST(Arbiters, PortsThatLeaveWithOnePacketShareAnArbiterWithWhateverElseLeavesByThem) {
    program::Program program;
    program.routes = {packet(1, {kNorth, kEast}), packet(2, {kNorth}), packet(3, {kEast}),
                      packet(4, {kDma})};
    const auto found = arbiters(program);
    ASSERT_TRUE(found[0].has_value());
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
    EXPECT_EQ(found[3], found[0]);
    EXPECT_NE(found[4], found[0]);
}

TEST(Arbiters, PortsWithoutAPacketInCommonHaveTheirOwn) {
    program::Program program;
    program.routes = {packet(1, {kNorth}), packet(2, {kEast}), packet(3, {kNorth})};
    for (const auto& each : arbiters(program)) {
        EXPECT_FALSE(each.has_value());
    }
}

TEST(Arbiters, TheSeventhPortSharesAnArbiterWithTheFirst) {
    program::Program program;
    for (std::int64_t i = 0; i < 7; ++i) {
        program.routes.push_back(packet(i, {{program::Bundle::North, i}}));
    }
    const auto found = arbiters(program);
    for (std::int64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(found[static_cast<std::size_t>(i)], i);
    }
    EXPECT_EQ(found[6], 0);
}

TEST(Arbiters, SixPortsHaveTheirOwn) {
    program::Program program;
    for (std::int64_t i = 0; i < 6; ++i) {
        program.routes.push_back(packet(i, {{program::Bundle::North, i}}));
    }
    for (const auto& arbiter : arbiters(program)) {
        EXPECT_EQ(arbiter, std::nullopt);
    }
}

// Four ways packets leave by are the selects of an arbiter, six are the arbiters of a switch.
TEST(Arbiters, EveryWayThatPacketsLeaveByTakesASelect) {
    using enum program::Bundle;
    std::vector<program::SwitchPort> ports;
    for (std::int64_t i = 0; i < 4; ++i) {
        ports.insert(ports.end(), {{North, i}, {South, i}, {East, i}, {West, i}});
    }
    ports.insert(ports.end(), {{North, 4}, {North, 5}, {Dma, 0}, {Dma, 1}});
    program::Program program;
    std::int64_t id = 0;
    for (std::size_t first = 0; first + 3 <= 18; first += 3) {
        const auto& a = ports[first];
        const auto& b = ports[first + 1];
        const auto& c = ports[first + 2];
        for (const auto& masters :
             {std::vector{a}, std::vector{a, b}, std::vector{a, c}, std::vector{b}}) {
            program.routes.push_back(packet(id++, masters));
        }
    }
    program.routes.push_back(packet(id, {ports[18], ports[19]}));
    const auto found = arbiters(program);
    EXPECT_EQ(found.back(), std::nullopt);
    EXPECT_EQ(std::count(found.begin(), found.end(), std::nullopt), 2);
    for (std::int64_t arbiter = 0; arbiter < 6; ++arbiter) {
        EXPECT_EQ(std::count(found.begin(), found.end(), arbiter), 6);  // ports of four packets
    }
}

TEST(Arbiters, WhatADesignStatesStays) {
    program::Program program;
    program.routes = {packet(1, {kNorth, kEast}), packet(2, {kNorth})};
    program.routes[0].path[0].arbiter = 5;
    program.routes[0].path[1].arbiter = 5;
    const auto found = arbiters(program);
    EXPECT_EQ(found[0], 5);
    EXPECT_FALSE(found[2].has_value());
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
