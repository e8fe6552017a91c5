#include "arch/npu/stream/router.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"

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

}  // namespace
}  // namespace tilesim::arch::npu::stream
