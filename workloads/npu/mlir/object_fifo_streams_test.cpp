// Ends of object FIFOs that are a core's own stream, and how ends are named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "workloads/npu/mlir/design_testing.hpp"

namespace tilesim::workloads::npu::mlir {
namespace {

using testing::HasSubstr;

// What its core does on its own stream.
std::string streams(const char* tile, bool puts, int words) {
    std::string body;
    for (int i = 0; i < words; ++i) {
        body +=
            puts ? "aie.put_stream(%p : i32, %p : i32)\n" : "%v = aie.get_stream(%p : i32) : i32\n";
    }
    return fmt::format("aie.core({}) {{ %p = arith.constant 0 : i32\n{} aie.end }}\n", tile, body);
}

TEST(ObjectFifo, AnEndOnACoresOwnStreamHasNoElements) {
    const std::string fifo =
        "aie.objectfifo @f({}, {{{}}}, 2 : i32) {{aie_stream = {} : i32, aie_stream_port = 0 : "
        "i32}}"
        " : !aie.objectfifo<memref<16xi32>>\n";
    const auto with = [&](const char* from, const char* to, int end) {
        return std::string{kFifoTiles} + fmt::format(fmt::runtime(fifo), from, to, end);
    };
    const program::ChannelId out{{0, 2}, program::Direction::MM2S, 0, program::PortKind::Core};
    const program::ChannelId in{{0, 3}, program::Direction::S2MM, 0, program::PortKind::Core};
    // The producer's: the consumer beside it has its elements, which a channel fills.
    program::Program p =
        read_npu(with("%a", "%b", 0) + streams("%a", true, 16) + core("%b", "f", "Consume", 1, 1));
    ASSERT_EQ(p.buffers.size(), 2U);
    EXPECT_EQ(p.buffers[0].tile, (program::TileCoordinate{0, 3}));
    ASSERT_EQ(p.dmas.size(), 1U);
    EXPECT_EQ(p.routes.at(0).source, out);
    EXPECT_EQ(p.routes[0].destinations,
              (std::vector<program::ChannelId>{{{0, 3}, program::Direction::S2MM, 0}}));
    // The consumer's.
    p = read_npu(with("%m", "%b", 1) + streams("%b", false, 16));
    EXPECT_EQ(p.buffers.at(0).tile, (program::TileCoordinate{0, 1}));
    EXPECT_EQ(p.routes.at(0).destinations, std::vector{in});
    // Both: a wire.
    p = read_npu(with("%a", "%b", 2) + streams("%a", true, 3) + streams("%b", false, 3));
    EXPECT_TRUE(p.buffers.empty());
    EXPECT_TRUE(p.locks.empty());
    EXPECT_TRUE(p.dmas.empty());
    EXPECT_EQ(p.routes.at(0).source, out);
    EXPECT_EQ(p.routes[0].destinations, std::vector{in});

    EXPECT_THAT(error_of(with("%a", "%b", 0) + core("%a", "f", "Produce", 1, 1)),
                HasSubstr("it has no elements to acquire or release"));
    EXPECT_THAT(error_of(with("%a", "%b", 1) +
                         "aie.core(%b) { aie.objectfifo.release @f(Consume, 1) aie.end }\n"),
                HasSubstr("it has no elements to acquire or release"));
    EXPECT_THAT(error_of(with("%a", "%b", 1) + "aie.objectfifo.allocate @f(%b)"),
                HasSubstr("have no memory in common"));
    EXPECT_THAT(error_of(std::string{kFifoTiles} +
                         "aie.objectfifo @f(%a, {%b}, 2 : i32) {aie_stream = 0 : i32, "
                         "prod_dma_channel = 1 : i32} : !aie.objectfifo<memref<16xi32>>"),
                HasSubstr("pinned to a DMA channel"));
    EXPECT_THAT(error_of(with("%m", "%b", 0)), HasSubstr("tile 0,1 has no core"));
    EXPECT_THAT(error_of(with("%a", "%b", 3)), HasSubstr("aie_stream must be 0"));
    EXPECT_THAT(error_of(std::string{kFifoTiles} +
                         "aie.objectfifo @f(%a, {%b}, 2 : i32) {aie_stream = 2 : i32, "
                         "aie_stream_port = 1 : i32} : !aie.objectfifo<memref<16xi32>>"),
                HasSubstr("stream port 1: cores have 1 such port"));
    EXPECT_THAT(error_of(std::string{kFifoTiles} +
                         "aie.objectfifo @f(%a, {%b}, 2 : i32) {aie_stream = 0 : i32, "
                         "aie_stream_port = 0 : i32, repeat_count = 2 : i32} : "
                         "!aie.objectfifo<memref<16xi32>>"),
                HasSubstr("it has no elements"));
    EXPECT_THAT(error_of(std::string{kFifoTiles} +
                         "aie.objectfifo @f(%a, {%b dimensionsFromStream [<size = 16, stride = 1>]}"
                         ", 2 : i32) {aie_stream = 1 : i32, aie_stream_port = 0 : i32} : "
                         "!aie.objectfifo<memref<16xi32>>"),
                HasSubstr("has no dimensions"));
    EXPECT_THAT(error_of(with("%a", "%b", 2) +
                         "aie.objectfifo @g(%b, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                         "aie.objectfifo.link [@f] -> [@g] ([] [])"),
                HasSubstr("a link needs elements"));
}

// As the compiler writes it since 2026.
TEST(ObjectFifo, EndsAreNamedByTheirPorts) {
    const auto with = [](const std::string& attributes) {
        return std::string{kFifoTiles} + "aie.objectfifo @f(%a, {%b}, 2 : i32) {" + attributes +
               "} : !aie.objectfifo<memref<16xi32>>\n";
    };
    program::Program p = read_npu(with("prod_port = #aie.end_port<Core : 0>, "
                                       "cons_ports = [#aie.end_port<Core : 0>]") +
                                  streams("%a", true, 3) + streams("%b", false, 3));
    EXPECT_TRUE(p.buffers.empty());
    EXPECT_EQ(p.routes.at(0).source.port, program::PortKind::Core);
    EXPECT_EQ(p.routes[0].destinations.at(0).port, program::PortKind::Core);
    p =
        read_npu(with("transport = #aie.transport<dma>, prod_port = #aie.end_port<DMA : 1>, "
                      "cons_ports = [#aie.end_port<DMA>]"));
    EXPECT_EQ(p.routes.at(0).source, (program::ChannelId{{0, 2}, program::Direction::MM2S, 1}));
    EXPECT_EQ(p.routes[0].destinations.at(0).index, 0);
    EXPECT_TRUE(read_npu(with("transport = #aie.transport<auto>")).routes.empty());
    EXPECT_THAT(error_of(with("prod_port = #aie.end_port<Core>")), HasSubstr("<Core : 0>"));
    EXPECT_THAT(error_of(with("prod_port = #aie.end_port<North : 0>")), HasSubstr("<DMA : 1>"));
    EXPECT_THAT(error_of(with("") +
                         "aie.objectfifo @g(%b, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
                         "aie.objectfifo.link [@f] -> [@g] ([] []) {mode = #aie.link_mode<time>}"),
                HasSubstr("take turns in time is not modelled"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir
