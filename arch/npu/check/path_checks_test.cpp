#include "arch/npu/check/path_checks.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::check {
namespace {

constexpr auto kMm2s = program::Direction::MM2S;
constexpr auto kS2mm = program::Direction::S2MM;

NpuConfig device() {
    NpuConfig config;
    config.memory_dma.channels = 6;
    config.memory_dma.descriptors = 48;
    return config;
}

// A hop with its ports by name.
struct Crossing {
    program::TileCoordinate tile;
    std::string in, out;
};

program::Route make(const char* name, program::ChannelId from, std::vector<program::ChannelId> to,
                    const std::vector<Crossing>& path = {},
                    std::optional<std::int64_t> packet = std::nullopt) {
    program::Route route{name, from, std::move(to), packet, false, {}};
    for (const auto& [tile, in, out] : path) {
        route.path.push_back(
            {tile, program::parse_port(in).value(), program::parse_port(out).value()});
    }
    return route;
}

std::string problem(std::vector<program::Route> routes) {
    program::Program program;
    program.routes = std::move(routes);
    const auto problems = check_paths(program, device());
    return problems.empty() ? "" : problems[0];
}

// Routed, checked, and the number of hops of each route.
std::vector<std::size_t> routed(std::vector<program::Route> routes) {
    program::Program program;
    program.routes = std::move(routes);
    stream::route(program, device());
    EXPECT_EQ(check_paths(program, device()), std::vector<std::string>{});
    std::vector<std::size_t> sizes;
    for (const program::Route& each : program.routes) {
        sizes.push_back(each.path.size());
    }
    return sizes;
}

TEST(PathChecks, AcceptAPinnedBroadcast) {
    EXPECT_EQ(problem({make("r", {{0, 0}, kMm2s, 0}, {{{0, 1}, kS2mm, 4}, {{0, 2}, kS2mm, 1}},
                            {{{0, 0}, "south3", "north2"},
                             {{0, 1}, "south2", "dma4"},
                             {{0, 1}, "south2", "north2"},
                             {{0, 2}, "south2", "dma1"}})}),
              "");
}

TEST(PathChecks, NameEachBrokenRule) {
    const program::ChannelId from{{0, 0}, kMm2s, 0};
    const program::ChannelId to{{0, 2}, kS2mm, 0};
    const auto path = [&](const std::vector<Crossing>& hops) {
        return problem({make("r", from, {to}, hops)});
    };
    EXPECT_EQ(path({{{0, 0}, "south3", "north6"}}),
              "route r: the switch of tile 0,0 has no output north6");
    EXPECT_EQ(path({{{0, 0}, "south9", "north1"}}),
              "route r: the switch of tile 0,0 has no input south9");
    EXPECT_EQ(path({{{0, 0}, "south3", "north1"},
                    {{0, 1}, "south1", "north2"},
                    {{0, 2}, "south2", "dma0"}}),
              "route r: the switch of tile 0,1 cannot connect south1 to north2");
    EXPECT_EQ(path({{{0, 0}, "south3", "north1"}, {{0, 1}, "south1", "north1"}}),
              "route r: its path does not reach tile 0,2 dma0");
    EXPECT_EQ(path({{{0, 0}, "south3", "north1"},
                    {{0, 1}, "south0", "north0"},
                    {{0, 2}, "south0", "dma0"}}),
              "route r: nothing feeds tile 0,1 south0");
    EXPECT_EQ(path({{{0, 0}, "south3", "north1"},
                    {{0, 0}, "south3", "north2"},
                    {{0, 1}, "south1", "north1"},
                    {{0, 2}, "south1", "dma0"}}),
              "route r: what leaves by tile 0,0 north2 goes nowhere");
    EXPECT_EQ(path({{{9, 9}, "south3", "north1"}}), "route r: tile 9,9 is outside the array");
}

TEST(PathChecks, AMasterServesOneCircuitOrPacketsOfDifferentIds) {
    const auto through = [](const char* name, std::int64_t channel,
                            std::optional<std::int64_t> packet) {
        return make(
            name, {{0, 1}, kMm2s, channel}, {{{0, 0}, kS2mm, 0}},
            {{{0, 1}, "dma" + std::to_string(channel), "south2"}, {{0, 0}, "north2", "south2"}},
            packet);
    };
    EXPECT_EQ(problem({through("a", 0, std::nullopt), through("b", 1, std::nullopt)}),
              "route b: tile 0,1 south2 already belongs to a");
    EXPECT_EQ(problem({through("a", 0, 1), through("b", 1, 2)}), "");
    // The same id merges where it has the same receivers; a rule cannot tell the two apart.
    EXPECT_EQ(problem({through("a", 0, 1), through("b", 1, 1)}), "");
    const program::Route wider = make(
        "b", {{0, 1}, kMm2s, 1}, {{{0, 0}, kS2mm, 0}, {{0, 0}, kS2mm, 1}},
        {{{0, 1}, "dma1", "south2"}, {{0, 0}, "north2", "south2"}, {{0, 0}, "north2", "south3"}},
        1);
    EXPECT_EQ(problem({through("a", 0, 1), wider}),
              "routes a and b: both send packet 1 from north2 to tile 0,0 south2");
}

TEST(PathChecks, FivePacketsToFiveOutputsNeedMoreRulesThanAPortHas) {
    std::vector<program::Route> routes;
    for (const std::int64_t channel : {0, 1, 2, 3, 4}) {
        routes.push_back(make(
            ("r" + std::to_string(channel)).c_str(), {{0, 0}, kMm2s, 0}, {{{0, 1}, kS2mm, channel}},
            {{{0, 0}, "south3", "north0"}, {{0, 1}, "south0", "dma" + std::to_string(channel)}},
            channel));
    }
    EXPECT_EQ(problem(routes), "tile 0,1 south0: its 5 packet ids need 5 rules, a port has 4");
    routes.pop_back();
    EXPECT_EQ(problem(routes), "");
}

TEST(PathChecks, AnOrderOfAnArbiterHasTheTurnsOfTheHardware) {
    const auto problem_of = [](const program::Merge& merge) {
        program::Program program;
        program.merges = {merge};
        const auto problems = check_paths(program, device());
        return problems.empty() ? "" : problems[0];
    };
    const program::Merge::Turn turn{*program::parse_port("dma5"), 63};
    EXPECT_EQ(problem_of({{0, 1}, 1, {turn, turn, turn, turn}}), "");
    EXPECT_EQ(problem_of({{0, 1}, 1, {turn, turn, turn, turn, turn}}),
              "tile 0,1 arbiter 1: has 1..4 turns, not 5");
    EXPECT_EQ(problem_of({{0, 1}, 1, {}}), "tile 0,1 arbiter 1: has 1..4 turns, not 0");
    EXPECT_EQ(problem_of({{0, 1}, 2, {turn}}),
              "tile 0,1 arbiter 2: arbiters 0..1 merge in a fixed order");
    EXPECT_EQ(problem_of({{0, 1}, 0, {{turn.in, 64}}}),
              "tile 0,1 arbiter 0: a turn has 1..63 packets, not 64");
    EXPECT_EQ(problem_of({{0, 2}, 0, {turn}}), "tile 0,2 arbiter 0: its switch has no input dma5");
    EXPECT_EQ(problem_of({{0, 9}, 0, {turn}}), "tile 0,9 arbiter 0: is outside the array");
    program::Program twice;
    twice.merges = {{{0, 1}, 0, {turn}}, {{0, 1}, 0, {turn}}};
    EXPECT_EQ(check_paths(twice, device()),
              std::vector<std::string>{"tile 0,1 arbiter 0: has two orders"});
}

TEST(Router, KeepsToLegalCrossings) {
    // Straight up; a memory tile's channel to another of its own, which has to leave the tile and
    // come back; a shim's read channel to its own write channel, likewise.
    EXPECT_EQ(routed({make("up", {{0, 0}, kMm2s, 0}, {{{0, 4}, kS2mm, 0}})}),
              (std::vector<std::size_t>{5}));
    EXPECT_EQ(routed({make("across", {{0, 1}, kMm2s, 1}, {{{0, 1}, kS2mm, 2}})}),
              (std::vector<std::size_t>{3}));
    EXPECT_GE(routed({make("back", {{0, 0}, kMm2s, 0}, {{{0, 0}, kS2mm, 0}})})[0], 3U);
}

TEST(Router, UsesEveryStreamOfABundleAndThenGoesRound) {
    // Six streams lead north from a memory tile; the seventh would have to go round, but memory
    // tiles have no way sideways.
    std::vector<program::Route> routes;
    const program::ChannelId cores[] = {{{0, 2}, kS2mm, 0}, {{0, 2}, kS2mm, 1}, {{0, 3}, kS2mm, 0},
                                        {{0, 3}, kS2mm, 1}, {{0, 4}, kS2mm, 0}, {{0, 4}, kS2mm, 1}};
    for (std::int64_t i = 0; i < 6; ++i) {
        routes.push_back(make(("r" + std::to_string(i)).c_str(), {{0, 1}, kMm2s, i}, {cores[i]}));
    }
    EXPECT_EQ(routed(routes).size(), 6U);
    routes.push_back(make("seventh", {{0, 0}, kMm2s, 0}, {{{0, 5}, kS2mm, 0}}));
    EXPECT_EQ(routed(routes).back(), 8U);  // by the next column: two steps sideways, not one up
}

TEST(Router, PacketsShareAWireRatherThanGoRound) {
    std::vector<program::Route> routes;
    for (std::int64_t i = 0; i < 5; ++i) {  // four streams lead south from a memory tile
        routes.push_back(make(("r" + std::to_string(i)).c_str(), {{0, 1}, kMm2s, i},
                              {{{0, 0}, kS2mm, 0}}, {}, i));
    }
    EXPECT_EQ(routed(routes), (std::vector<std::size_t>(5, 2)));
    for (program::Route& each : routes) {
        each.packet_id.reset();
        each.path.clear();
    }
    program::Program program;
    program.routes = routes;
    EXPECT_THROW(stream::route(program, device()), base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::arch::npu::check
