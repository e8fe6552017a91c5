#include "arch/npu/stream/arbiters.hpp"

#include <gtest/gtest.h>

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
