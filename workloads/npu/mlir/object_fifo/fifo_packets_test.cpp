// Object FIFOs as packets, and links whose branches take turns in time.
#include "workloads/npu/mlir/object_fifo/fifo_packets.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "workloads/npu/mlir/design/design_testing.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

using design::core;
using design::error_of;
using design::kFifoTiles;
using design::read_npu;

namespace {

using testing::HasSubstr;

std::string fifo(const char* name, const char* from, const char* to,
                 const std::string& attributes = "") {
    return fmt::format(
        "aie.objectfifo @{}({}, {{{}}}, 2 : i32) {{{}}} : "
        "!aie.objectfifo<memref<16xi32>>\n",
        name, from, to, attributes);
}

const program::TileDma& dma_at(const program::Program& p, program::TileCoordinate tile) {
    for (const program::TileDma& dma : p.dmas) {
        if (dma.tile == tile) {
            return dma;
        }
    }
    throw std::out_of_range("no such DMA");
}

std::vector<std::int64_t> ids_of(const program::TileDma& dma) {
    std::vector<std::int64_t> ids;
    for (const program::BufferDescriptor& descriptor : dma.descriptors) {
        ids.push_back(descriptor.packet ? descriptor.packet->id : -1);
    }
    return ids;
}

// The id a route's packets have.
std::vector<std::optional<std::int64_t>> routed(const program::Program& p) {
    std::vector<std::optional<std::int64_t>> ids;
    for (const program::Route& route : p.routes) {
        ids.push_back(route.packet_id);
    }
    return ids;
}

TEST(FifoPackets, HeadersAreTheLowestThatNothingElseHas) {
    const program::Program p = read_npu(
        std::string{kFifoTiles} +
        "aie.packet_flow(0) { aie.packet_source<%far, DMA : 1> aie.packet_dest<%s, DMA : 1> }\n" +
        fifo("f", "%m", "%a", "packet") + fifo("g", "%m", "%b", "packet, packet_id = 1 : i8") +
        fifo("h", "%m", "%a",
             "transport = #aie.transport<dma, packet = #aie.packet_info<pkt_type = 3>>") +
        fifo("i", "%m", "%b"));
    EXPECT_EQ(ids_of(dma_at(p, {0, 1})), (std::vector<std::int64_t>{2, 2, 1, 1, 3, 3, -1, -1}));
    EXPECT_EQ(dma_at(p, {0, 1}).descriptors[4].packet->type, 3);
    EXPECT_THAT(routed(p), testing::UnorderedElementsAre(0, 2, 1, 3, std::nullopt));
    EXPECT_THAT(error_of(std::string{kFifoTiles} + fifo("f", "%m", "%a", "packet_id = 32 : i8")),
                HasSubstr("a packet id must be 0..31, got 32"));
}

// What the sequence sends through the FIFO's end at the shim.
TEST(FifoPackets, TransfersOfAShimsEndSendTheHeader) {
    const program::Program p = read_npu(
        std::string{kFifoTiles} + fifo("f", "%s", "%a", "packet, packet_id = 7 : i8") +
        "aie.runtime_sequence(%x: memref<16xi32>) {\n"
        "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0 : i64, metadata = "
        "@f} : memref<16xi32>\n}\n");
    const auto* write = std::get_if<program::WriteDescriptor>(&p.sequence.at(0));
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(write->descriptor.packet->id, 7);
}

// Two elements and three turns: six descriptors, so that each element goes each way.
TEST(FifoPackets, AnElementGoesToOneBranchAfterTheOther) {
    const std::string fifos = std::string{kFifoTiles} + fifo("in", "%s", "%m") +
                              fifo("x", "%m", "%a") + fifo("y", "%m", "%b") +
                              fifo("z", "%m", "%far");
    const auto link = [](const char* to, const char* keys = "mode = #aie.link_mode<time>") {
        return fmt::format("aie.objectfifo.link [@in] -> [{}] ([] []) {{{}}}\n", to, keys);
    };
    const program::Program p = read_npu(fifos + link("@y, @x, @z"));
    const program::TileDma& memory = dma_at(p, {0, 1});
    ASSERT_EQ(memory.starts.size(), 2U);  // in, and one out
    EXPECT_EQ(ids_of(memory), (std::vector<std::int64_t>{-1, -1, 1, 0, 2, 1, 0, 2}));
    std::vector<std::int64_t> buffers;
    for (std::size_t i = 2; i < 8; ++i) {
        buffers.push_back(memory.descriptors[i].buffer - memory.descriptors[2].buffer);
        EXPECT_EQ(memory.descriptors[i].acquire->lock, memory.descriptors[2].acquire->lock);
    }
    EXPECT_EQ(buffers, (std::vector<std::int64_t>{0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(memory.descriptors[7].next, memory.descriptors[2].id);
    EXPECT_THAT(routed(p), testing::UnorderedElementsAre(std::nullopt, 0, 1, 2));
    EXPECT_THAT(error_of(fifos + link("@x")), HasSubstr("has several inputs or several outputs"));
    EXPECT_THAT(error_of(std::string{kFifoTiles} + fifo("in", "%s", "%m") +
                         fifo("x", "%m", "%a", "repeat_count = 2 : i32") + fifo("y", "%m", "%b") +
                         link("@x, @y")),
                HasSubstr("@x takes turns in time: repeat_count"));
    EXPECT_THAT(
        error_of(fifos +
                 "aie.objectfifo @w(%m, {%far}, 2 : i32) : !aie.objectfifo<memref<8xi32>>\n" +
                 link("@x, @w")),
        HasSubstr("move whole elements, of 64 B; those of @w have 32"));
}

TEST(FifoPackets, InputsOfAJoinShareAChannelOfTheShim) {
    const std::string ends = std::string{kFifoTiles} + fifo("x", "%s", "%m", "packet") +
                             fifo("y", "%s", "%m", "packet") +
                             "aie.objectfifo @out(%m, {%a}, 2 : i32) : "
                             "!aie.objectfifo<memref<32xi32>>\n";
    const std::string link = "aie.objectfifo.link [@x, @y] -> [@out] ([0, 16] []) ";
    const std::string shared = ends + link + "{shared_input_channel}\n";
    const auto task = [](const std::string& others, const char* second) {
        return std::string{
                   "aie.runtime_sequence(%w : memref<1024xi32>) {\n"
                   "%t = aiex.dma_configure_task_for @x {\n"
                   "aie.dma_bd(%w : memref<1024xi32> offset = 0 len = 16\n"
                   "sizes = [8, 1, 1, 16] strides = [16, 0, 0, 1])\n"} +
               second + "} {repeat_count = 7 : i32, issue_token = true, interleave = [" + others +
               "]}\naiex.dma_start_task(%t)\naiex.dma_await_task(%t)\n}\n";
    };
    const char* const both =
        "aie.next_bd ^s\n^s:\n"
        "aie.dma_bd(%w : memref<1024xi32> offset = 512 len = 16\n"
        "sizes = [8, 1, 1, 16] strides = [16, 0, 0, 1])\naie.end\n";
    const program::Program p = read_npu(shared + task("@y", both));
    const program::ChannelId common{{0, 0}, program::Direction::MM2S, 0};
    int sent = 0;
    for (const program::Route& route : p.routes) {
        sent += route.source == common ? 1 : 0;
    }
    EXPECT_EQ(sent, 2);
    EXPECT_THAT(routed(p), testing::UnorderedElementsAre(std::nullopt, 0, 1));
    EXPECT_EQ(dma_at(p, {0, 1}).starts.size(), 3U);  // x, y and out
    std::vector<std::int64_t> ids;
    for (const auto& step : p.sequence) {
        if (const auto* write = std::get_if<program::WriteDescriptor>(&step)) {
            ids.push_back(write->descriptor.packet->id);
        }
    }
    EXPECT_EQ(ids, (std::vector<std::int64_t>{0, 1}));
    EXPECT_THAT(error_of(shared + task("@y", "aie.end\n")),
                HasSubstr("a task of 2 object FIFOs, with a transfer each; it has 1"));
    std::string fewer = task("@y", both);
    fewer.replace(fewer.rfind("[8, 1"), 2, "[4");
    EXPECT_THAT(error_of(shared + fewer),
                HasSubstr("the outermost size of the transfer for @y, 4, must be the 8 runs"));
    EXPECT_THAT(error_of(ends + link + "\n" + task("@y", both)),
                HasSubstr("those of @y are none of @x's"));
    EXPECT_THAT(error_of(std::string{kFifoTiles} + fifo("x", "%s", "%m", "packet") +
                         fifo("y", "%m", "%a", "packet") +
                         "aie.objectfifo.link [@x] -> [@y] ([] []) {shared_input_channel}\n"),
                HasSubstr("several inputs from a shim"));
}

TEST(FifoPackets, WhicheverArrivesIsMerged) {
    const std::string ends =
        std::string{kFifoTiles} + fifo("x", "%a", "%m") + fifo("y", "%b", "%m");
    const std::string link =
        "aie.objectfifo.link [@x, @y] -> [@out] ([] []) {mode = #aie.link_mode<time>}\n";
    const program::Program p = read_npu(ends + fifo("out", "%m", "%s") + link);
    EXPECT_EQ(dma_at(p, {0, 1}).starts.size(), 2U);
    EXPECT_EQ(ids_of(dma_at(p, {0, 2})), (std::vector<std::int64_t>{0, 0}));
    EXPECT_EQ(ids_of(dma_at(p, {0, 3})), (std::vector<std::int64_t>{0, 0}));
    const program::ChannelId common{{0, 1}, program::Direction::S2MM, 0};
    int merged = 0;
    for (const program::Route& route : p.routes) {
        merged += route.destinations.at(0) == common && route.packet_id == 0 ? 1 : 0;
    }
    EXPECT_EQ(merged, 2);
    EXPECT_THAT(error_of(std::string{kFifoTiles} +
                         "aie.objectfifo @x(%a, {%m dimensionsFromStream [<size = 16, stride = 1>]}"
                         ", 2 : i32) : !aie.objectfifo<memref<16xi32>>\n" +
                         fifo("y", "%b", "%m") + fifo("out", "%m", "%s") + link),
                HasSubstr("@x has no dimensionsFromStream here"));
}

// The same as the compiler splits it: routes of packets, one for each turn, one with two sources.
TEST(FifoPackets, RoutesOfEndpointsTakeTurnsToo) {
    const auto pool = [](const char* name, const char* tile) {
        return fmt::format("aie.objectfifo.pool @{}({}) {{depth = 2 : i32}} : memref<16xi32>\n",
                           name, tile);
    };
    const std::string pools = std::string{kFifoTiles} + pool("y", "%m") + pool("pa", "%a") +
                              pool("pb", "%b") +
                              "aie.objectfifo.dma_endpoint @a_in(%a) fills @pa\n"
                              "aie.objectfifo.dma_endpoint @b_in(%b) fills @pb\n";
    const std::string dispatch =
        "aie.objectfifo.dma_endpoint @out(%m) drains @y {dispatch = [@b_in, @a_in]}\n";
    const program::Program p =
        read_npu(pools + dispatch +
                 "aie.route from @out to [@a_in] {packet = #aie.packet_info<>}\n"
                 "aie.route from @out to [@b_in] {packet = #aie.packet_info<pkt_id = 9>}\n"
                 "aie.objectfifo.dma_endpoint @in(%m) fills @y\n" +
                 pool("qa", "%a") + pool("qb", "%b") +
                 "aie.objectfifo.dma_endpoint @a_out(%a) drains @qa\n"
                 "aie.objectfifo.dma_endpoint @b_out(%b) drains @qb\n"
                 "aie.route from [@a_out, @b_out] to [@in] {packet = #aie.packet_info<>}\n");
    EXPECT_EQ(ids_of(dma_at(p, {0, 1})), (std::vector<std::int64_t>{9, 0, -1, -1}));
    EXPECT_EQ(ids_of(dma_at(p, {0, 2})), (std::vector<std::int64_t>{-1, -1, 1, 1}));
    EXPECT_EQ(ids_of(dma_at(p, {0, 3})), (std::vector<std::int64_t>{-1, -1, 1, 1}));
    // Where the flows stand beside it, the endpoint has the headers.
    const program::Program allocated = read_npu(
        std::string{kFifoTiles} + pool("y", "%m") +
        "aie.objectfifo.dma_endpoint @out(%m) drains @y {channelIndex = 0 : i32, dispatch = [@u, "
        "@v], dispatchPackets = [#aie.packet_info<pkt_id = 4>, #aie.packet_info<pkt_id = 6>]}\n"
        "aie.packet_flow(4) { aie.packet_source<%m, DMA : 0> aie.packet_dest<%a, DMA : 0> }\n"
        "aie.packet_flow(6) { aie.packet_source<%m, DMA : 0> aie.packet_dest<%b, DMA : 0> }\n");
    EXPECT_EQ(ids_of(dma_at(allocated, {0, 1})), (std::vector<std::int64_t>{4, 6}));

    EXPECT_THAT(error_of(pools + dispatch + "aie.route from @out to [@a_in]\n"),
                HasSubstr("the routes of @out, which dispatches, carry packets"));
    EXPECT_THAT(error_of(pools + dispatch + "aie.route from @out to [@a_in] {packet}\n"),
                HasSubstr("no route leads to @b_in, whose turn it would be"));
    EXPECT_THAT(error_of(pools + "aie.objectfifo.dma_endpoint @e(%a) drains @pa\n"
                                 "aie.objectfifo.dma_endpoint @f(%b) drains @pb\n"
                                 "aie.objectfifo.dma_endpoint @in(%m) fills @y\n"
                                 "aie.route from [@e, @f] to [@in]\n"),
                HasSubstr("several sources of one route send packets"));
    EXPECT_THAT(
        error_of(pools + "aie.objectfifo.dma_endpoint @in(%m) fills @y {dispatch = [@u]}\n"),
        HasSubstr("an endpoint that dispatches drains a pool"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::object_fifo
