#include "arch/npu/stream/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/stream/stream_switch.hpp"

namespace tilesim::arch::npu::stream {
namespace {

using enum program::Bundle;
constexpr auto kMm2s = program::Direction::MM2S;
constexpr auto kS2mm = program::Direction::S2MM;

program::Route route_to(program::ChannelId from, std::vector<program::ChannelId> to) {
    program::Route route;
    route.name = "route";
    route.source = from;
    route.destinations = std::move(to);
    return route;
}

std::int64_t routed_hops(program::ChannelId from, program::ChannelId to) {
    program::Program program;
    program.routes = {route_to(from, {to})};
    route(program, NpuConfig{});
    return hops(program.routes[0], 0);
}

TEST(Hops, AreTheSwitchesTheWordsCrossThatOfEachEndIncluded) {
    EXPECT_EQ(routed_hops({{0, 1}, kMm2s, 0}, {{0, 2}, kS2mm, 0}), 2);
    EXPECT_EQ(routed_hops({{0, 0}, kMm2s, 1}, {{0, 4}, kS2mm, 1}), 5);
    EXPECT_EQ(routed_hops({{0, 3}, kMm2s, 0}, {{2, 3}, kS2mm, 1}), 3);
    EXPECT_EQ(routed_hops({{0, 4}, kMm2s, 0}, {{0, 0}, kS2mm, 1}), 5);
    EXPECT_EQ(routed_hops({{1, 2}, kMm2s, 0}, {{1, 2}, kS2mm, 0}), 1);
}

TEST(Hops, EveryReceiverOfABroadcastCountsItsOwnWay) {
    program::Route broadcast =
        route_to({{0, 0}, kMm2s, 0}, {{{0, 1}, kS2mm, 4}, {{0, 3}, kS2mm, 1}});
    broadcast.path = {{{0, 0}, {South, 3}, {North, 2}, {}},
                      {{0, 1}, {South, 2}, {Dma, 4}, {}},
                      {{0, 1}, {South, 2}, {North, 2}, {}},
                      {{0, 2}, {South, 2}, {North, 5}, {}},
                      {{0, 3}, {South, 5}, {Dma, 1}, {}}};
    EXPECT_EQ(hops(broadcast, 0), 2);
    EXPECT_EQ(hops(broadcast, 1), 4);
}

TEST(Hops, CountADetourThatWasPinned) {
    program::Route detour = route_to({{0, 2}, kMm2s, 0}, {{{0, 3}, kS2mm, 0}});
    detour.path = {{{0, 2}, {Dma, 0}, {East, 1}, {}},
                   {{1, 2}, {West, 1}, {North, 3}, {}},
                   {{1, 3}, {South, 3}, {West, 0}, {}},
                   {{0, 3}, {East, 0}, {Dma, 0}, {}}};
    EXPECT_EQ(hops(detour, 0), 4);
}

TEST(Router, RefusesASecondCircuitIntoAChannel) {
    program::Program program;
    const program::ChannelId into{{0, 2}, kS2mm, 0};
    program.routes = {route_to({{0, 1}, kMm2s, 0}, {into}), route_to({{0, 1}, kMm2s, 1}, {into})};
    EXPECT_THROW(route(program, NpuConfig{}), base::config::ConfigError);
}

constexpr program::TileCoordinate kMemoryTile{0, 1};

NpuConfig array() {
    NpuConfig config;
    config.memory_dma.channels = 6;
    return config;
}
program::ChannelId sends(std::int64_t channel) {
    return {kMemoryTile, kMm2s, channel};
}
program::Route packets_to(std::int64_t id, std::vector<program::ChannelId> to) {
    program::Route route = route_to(sends(0), std::move(to));
    route.packet_id = id;
    return route;
}
// By how many routes each port words leave a switch by is used.
std::map<TilePort, int> uses(const program::Program& program) {
    std::map<TilePort, int> uses;
    for (const program::Route& route : program.routes) {
        for (const program::Hop& hop : route.path) {
            ++uses[{hop.tile, hop.out}];
        }
    }
    return uses;
}
bool any_shared(const program::Program& program) {
    const auto all = uses(program);
    return std::any_of(all.begin(), all.end(), [](const auto& use) { return use.second > 1; });
}

// Six wires lead north from a memory tile.
TEST(Router, CircuitsHaveTheirWiresToThemselvesAndGoStraight) {
    program::Program program;
    for (std::int64_t i = 0; i < 6; ++i) {
        program.routes.push_back(route_to(sends(i), {{{0, 2 + i / 2}, kS2mm, i % 2}}));
    }
    route(program, array());
    EXPECT_FALSE(any_shared(program));
    for (std::int64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(hops(program.routes[static_cast<std::size_t>(i)], 0), 2 + i / 2);
    }
}

TEST(Router, WhatIsPinnedIsLeftToIt) {
    program::Program program;
    for (std::int64_t wire = 0; wire < 5; ++wire) {
        program.routes.push_back(route_to(sends(wire), {{{0, 3}, kS2mm, 0}}));
        program.routes.back().path = {{kMemoryTile, {Dma, wire}, {North, wire}, {}}};
    }
    program.routes.push_back(route_to(sends(5), {{{0, 2}, kS2mm, 0}}));
    route(program, array());
    EXPECT_EQ(program.routes.back().path.front().out, (SwitchPort{North, 5}));
}

// "540>121": from tile 5,4 mm2s0 to tile 1,2 s2mm1.
std::vector<program::Route> circuits(const std::string& text) {
    std::vector<program::Route> routes;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const auto digit = [&word](std::size_t i) -> std::int64_t { return word[i] - '0'; };
        routes.push_back(route_to({{digit(0), digit(1)}, kMm2s, digit(2)},
                                  {{{digit(4), digit(5)}, kS2mm, digit(6)}}));
    }
    return routes;
}

// Wires that two circuits have, or a switch's port that one leaves twice.
std::size_t shared_wires(const program::Program& program) {
    std::map<TilePort, std::size_t> uses;
    for (const program::Route& route : program.routes) {
        for (const program::Hop& hop : route.path) {
            ++uses[{hop.tile, hop.out}];
        }
    }
    return static_cast<std::size_t>(
        std::count_if(uses.begin(), uses.end(), [](const auto& use) { return use.second > 1; }));
}

// In these orders one finds every stream taken that leads to it. Of the second set none gives way
// while wires stay as cheap as they are.
TEST(Router, WhereOneFindsNoWayAllBidForTheWires) {
    for (const char* set :
         {"540>120 250>530 330>440 721>220 331>140 051>720 240>740 750>221 740>650 731>551 "
          "320>441 550>151 650>131 620>251 141>651 651>241 641>051 150>631 131>041 350>331 "
          "031>450 351>141 ",
          "520>050 440>550 630>030 631>051 521>221 430>031 320>130 450>120 050>551 051>651 "
          "740>320 741>240 530>140 141>640 130>121 340>350 020>250 250>421 220>731 221>621 "
          "150>530 351>021 341>040 151>721 021>451 131>351 720>131 621>151 451>041 251>230 "
          "731>241 "}) {
        NpuConfig config;
        config.columns = 8;
        program::Program program;
        program.routes = circuits(set);
        ASSERT_NO_THROW(route(program, config)) << set;
        EXPECT_EQ(shared_wires(program), 0U);
        for (const program::Route& each : program.routes) {
            EXPECT_EQ(each.path.front().tile, each.source.tile);
            EXPECT_EQ(each.path.back().tile, each.destinations[0].tile);
            EXPECT_EQ(hops(each, 0), static_cast<std::int64_t>(each.path.size()));
        }
    }
}

// A column's four streams to the south, and six circuits that must go there.
TEST(Router, WhatHasNoWayWhoeverGivesUpIsRefused) {
    NpuConfig config = array();
    config.columns = 1;
    program::Program program;
    for (std::int64_t i = 0; i < 6; ++i) {
        program.routes.push_back(
            route_to({{0, 2 + i / 2}, kMm2s, i % 2}, {{kMemoryTile, kS2mm, i}}));
    }
    try {
        route(program, config);
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_NE(std::string{error.what()}.find(
                      "no way into tile 0,1: every stream on the way is taken"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Router, ABroadcastTakesAWireOnce) {
    program::Program program;
    for (std::int64_t channel = 0; channel < 2; ++channel) {
        std::vector<program::ChannelId> cores;
        for (std::int64_t row = 2; row < 6; ++row) {
            cores.push_back({{0, row}, kS2mm, channel});
        }
        program.routes.push_back(route_to(sends(channel), std::move(cores)));
    }
    route(program, array());
    EXPECT_FALSE(any_shared(program));
    for (const program::Route& each : program.routes) {
        EXPECT_EQ(each.path.size(), 4U + 4U);  // wires, and ports into cores
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(hops(each, i), 2 + static_cast<std::int64_t>(i));
        }
    }
}

TEST(Router, PacketsShareAWireRatherThanGoRound) {
    program::Program program;
    for (std::int64_t id = 0; id < 7; ++id) {  // over six wires
        program.routes.push_back(packets_to(id, {{{0, 2}, kS2mm, 0}}));
    }
    route(program, array());
    std::map<int, int> wires;
    for (const auto& [port, count] : uses(program)) {
        wires[count] += port.tile == kMemoryTile ? 1 : 0;
    }
    EXPECT_EQ(wires[1], 5);
    EXPECT_EQ(wires[2], 1);
    for (const program::Route& each : program.routes) {
        EXPECT_EQ(hops(each, 0), 2);
    }
}

TEST(Router, ACircuitSharesNoWireWithPackets) {
    program::Program program;
    for (std::int64_t id = 0; id < 6; ++id) {
        program.routes.push_back(packets_to(id, {{{0, 2}, kS2mm, 0}}));
    }
    program.routes.push_back(route_to(sends(5), {{{0, 3}, kS2mm, 0}}));
    route(program, array());
    EXPECT_GT(hops(program.routes.back(), 0), 3);  // round, by another column
    const auto all = uses(program);
    for (const program::Hop& hop : program.routes.back().path) {
        EXPECT_EQ(all.at({hop.tile, hop.out}), 1);
    }
}

TEST(Router, PacketsShareNoWireWithACircuit) {
    program::Program program;
    for (std::int64_t i = 0; i < 6; ++i) {
        program.routes.push_back(route_to(sends(i), {{{0, 2 + i / 2}, kS2mm, i % 2}}));
    }
    program.routes.push_back(packets_to(1, {{{0, 5}, kS2mm, 0}}));
    route(program, array());
    EXPECT_FALSE(any_shared(program));
    EXPECT_GT(hops(program.routes.back(), 0), 5);  // round, by another column
}

TEST(Router, PacketsShareAPortUnlessTheyAreOfOneIdAndPart) {
    const program::Route circuit = route_to(sends(0), {{{0, 2}, kS2mm, 0}});
    const program::Route one = packets_to(1, {{{0, 2}, kS2mm, 0}});
    EXPECT_FALSE(can_share(circuit, circuit));
    EXPECT_FALSE(can_share(circuit, one));
    EXPECT_FALSE(can_share(one, circuit));
    EXPECT_TRUE(can_share(one, one));
    EXPECT_TRUE(can_share(one, packets_to(2, {{{0, 2}, kS2mm, 0}})));
    EXPECT_TRUE(can_share(one, packets_to(2, {{{0, 3}, kS2mm, 0}})));
    EXPECT_FALSE(can_share(one, packets_to(1, {{{0, 3}, kS2mm, 0}})));
}

TEST(Router, PacketsThatLeaveByTwoPortsHaveOneArbiter) {
    program::Program program;
    program.routes = {packets_to(1, {{{0, 2}, kS2mm, 0}, {{0, 2}, kS2mm, 1}})};
    route(program, array());
    int arbiters = 0;
    for (const program::Hop& hop : program.routes[0].path) {
        arbiters += hop.tile == program::TileCoordinate{0, 2} && hop.arbiter == 0 ? 1 : 0;
    }
    EXPECT_EQ(arbiters, 2);
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
