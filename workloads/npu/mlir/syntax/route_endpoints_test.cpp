// Routes whose channels nobody chose become flows between the lowest free ones.
#include "workloads/npu/mlir/syntax/route_endpoints.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

using testing::HasSubstr;

std::string device(const std::string& text) {
    return "module {\naie.device(npu2) {\n"
           "%s = aie.tile(0, 0)\n%m = aie.tile(0, 1)\n%c = aie.tile(0, 2)\n%d = aie.tile(0, 3)\n" +
           text + "aie.end\n}\n}\n";
}

std::vector<Operation> written(const std::string& text) {
    std::vector<Operation> operations = parse(device(text));
    write_routes_as_flows(operations);
    return operations;
}

void expect_same(const std::string& routes, const std::string& flows) {
    EXPECT_EQ(text_of(written(routes)), text_of(parse(device(flows))));
}

std::string refusal(const std::string& text) {
    return refusal_behind(4, [&] { written(text); });
}

TEST(RouteEndpoints, ChannelsAreTheLowestThatNothingNames) {
    expect_same(R"(
aie.flow(%m, DMA : 0, %c, DMA : 0)
aie.route_endpoint @a(%m) DMA
aie.route_endpoint @b(%c) DMA
aie.route_endpoint @e(%d) DMA {channelIndex = 1 : i32}
aie.route from @a to [@b, @e]
aie.mem(%c) {
  aie.dma_start(S2MM, @b, ^x, ^end)
^x:
  aie.dma_start(MM2S, 1, ^x, ^end)
^end:
  aie.end
}
)",
                R"(
aie.flow(%m, DMA : 0, %c, DMA : 0)
aie.mem(%c) {
  aie.dma_start(S2MM, 1, ^x, ^end)
^x:
  aie.dma_start(MM2S, 1, ^x, ^end)
^end:
  aie.end
}
aie.flow(%m, DMA : 1, %c, DMA : 1)
aie.flow(%m, DMA : 1, %d, DMA : 1)
)");
}

// The sequence reaches a shim's end by an allocation, any other by its number.
TEST(RouteEndpoints, TasksNameTheirEnds) {
    expect_same(R"(
aie.route_endpoint @host(%s) DMA {fifoName = "in"}
aie.route_endpoint @take(%m) DMA
aie.route from @host to [@take]
aie.runtime_sequence(%x : memref<8xi32>) {
  %1 = aiex.dma_configure_task_for @host { aie.end }
  %2 = aiex.dma_configure_task_for @take { aie.end } {repeat_count = 3 : i32}
}
)",
                R"(
aie.runtime_sequence(%x : memref<8xi32>) {
  %1 = aiex.dma_configure_task_for @host { aie.end }
  %2 = aiex.dma_configure_task(%m, S2MM, 0) { aie.end } {repeat_count = 3 : i32}
}
aie.shim_dma_allocation @host(%s, MM2S, 0)
aie.shim_dma_allocation @in(%s, MM2S, 0)
aie.flow(%s, DMA : 0, %m, DMA : 0)
)");
}

TEST(RouteEndpoints, PacketsOfCoresGetIdsThatNoOthersHave) {
    expect_same(R"(
aie.packet_flow(0) { aie.packet_source<%d, Core : 0> aie.packet_dest<%m, DMA : 0> }
aie.route_endpoint @a(%c) Core
aie.route_endpoint @b(%m) DMA
aie.route_endpoint @e(%m) DMA
aie.route from @a to [@b] {packet = #aie.packet_info<pkt_type = 1, pkt_id = 1>}
aie.route from @a to [@e] {packet}
)",
                R"(
aie.packet_flow(0) { aie.packet_source<%d, Core : 0> aie.packet_dest<%m, DMA : 0> }
aie.packet_flow(1) { aie.packet_source<%c, Core : 0> aie.packet_dest<%m, DMA : 1> }
aie.packet_flow(2) { aie.packet_source<%c, Core : 0> aie.packet_dest<%m, DMA : 2> }
)");
}

// A shim's transfers send what the route says; senders that take turns have one id.
TEST(RouteEndpoints, PacketsOfChannelsAreWhatTheirRoutesSay) {
    expect_same(R"(
aie.packet_flow(0) { aie.packet_source<%d, Core : 0> aie.packet_dest<%m, DMA : 0> }
aie.route_endpoint @host(%s) DMA {fifoName = "in"}
aie.route_endpoint @a(%c) DMA
aie.route_endpoint @b(%d) DMA
aie.route_endpoint @take(%m) DMA
aie.route_endpoint @back(%s) DMA
aie.route from @host to [@take] {packet = #aie.packet_info<pkt_type = 2>}
aie.route from [@a, @b] to [@back] {packet = #aie.packet_info<pkt_id = 1>}
)",
                R"(
aie.packet_flow(0) { aie.packet_source<%d, Core : 0> aie.packet_dest<%m, DMA : 0> }
aie.shim_dma_allocation @back(%s, S2MM, 0)
aie.shim_dma_allocation @host(%s, MM2S, 0, <pkt_type = 2, pkt_id = 2>)
aie.shim_dma_allocation @in(%s, MM2S, 0, <pkt_type = 2, pkt_id = 2>)
aie.packet_flow(2) { aie.packet_source<%s, DMA : 0> aie.packet_dest<%m, DMA : 1> }
aie.packet_flow(1) { aie.packet_source<%c, DMA : 0> aie.packet_source<%d, DMA : 0> aie.packet_dest<%s, DMA : 0> }
)");
}

// Of an object FIFO's: only what a program names becomes a number, for both to agree on.
TEST(RouteEndpoints, ARouteToAPoolStays) {
    expect_same(R"(
aie.route_endpoint @a(%m) DMA
aie.objectfifo.pool @p(%c) {depth = 1 : i32} : memref<8xi32>
aie.objectfifo.dma_endpoint @b(%c) fills @p
aie.route from @a to [@b]
aie.memtile_dma(%m) { aie.dma_start(MM2S, @a, ^x, ^x) ^x: aie.end }
)",
                R"(
aie.objectfifo.pool @p(%c) {depth = 1 : i32} : memref<8xi32>
aie.objectfifo.dma_endpoint @b(%c) fills @p
aie.route from @a to [@b]
aie.memtile_dma(%m) { aie.dma_start(MM2S, 0, ^x, ^x) ^x: aie.end }
aie.route_endpoint @a(%m) DMA {channelIndex = 0 : i32}
)");
}

TEST(RouteEndpoints, WhatCannotBeIsRefusedAtItsPlace) {
    const std::string ends = "aie.route_endpoint @a(%m) DMA\naie.route_endpoint @b(%c) DMA\n";
    const std::string start =
        "aie.memtile_dma(%m) {{ aie.dma_start({}, @{}, ^x, ^x) ^x: aie.end }}\n";
    EXPECT_THAT(refusal(ends + "aie.route from @a to [@b]\n" +
                        fmt::format(fmt::runtime(start), "S2MM", "a")),
                HasSubstr("starts S2MM on @a, but its route makes it MM2S"));
    EXPECT_THAT(refusal(ends + fmt::format(fmt::runtime(start), "S2MM", "z")),
                HasSubstr("no endpoint is named @z"));
    EXPECT_THAT(refusal(ends + "aie.route from @a to [@b]\naie.route from @b to [@a]\n"),
                HasSubstr("source of one route and the destination of another"));
    EXPECT_THAT(refusal(ends + "aie.route_endpoint @e(%c) DMA\naie.route from [@a, @e] to [@b]\n"),
                HasSubstr("several sources of one route send packets"));
    EXPECT_THAT(refusal(ends + "aie.runtime_sequence() { %t = aiex.dma_configure_task_for @a { "
                               "aie.end } }\n"),
                HasSubstr("@a is in no route that says which way it goes"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
