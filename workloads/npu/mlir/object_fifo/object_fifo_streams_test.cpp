// Ends of object FIFOs that are a core's own stream, and how ends are named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

using design::core;
using design::error_of;
using design::kFifoTiles;
using design::read_npu;

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

// Since the summer of 2026.
TEST(ObjectFifo, ATransportOnStreamsNamesItsEnds) {
    const auto with = [](const char* transport) {
        return std::string{kFifoTiles} +
               fmt::format(
                   "aie.objectfifo @f(%a, {{%b}}, 2 : i32) {{transport = "
                   "#aie.transport<{}>}} : !aie.objectfifo<memref<16xi32>>\n",
                   transport);
    };
    const program::ChannelId out{{0, 2}, program::Direction::MM2S, 0, program::PortKind::Core};
    const program::ChannelId in{{0, 3}, program::Direction::S2MM, 0, program::PortKind::Core};
    program::Program p = read_npu(with("stream, ends = both, port = 0") + streams("%a", true, 3) +
                                  streams("%b", false, 3));
    EXPECT_TRUE(p.buffers.empty());
    EXPECT_EQ(p.routes.at(0).source, out);
    EXPECT_EQ(p.routes[0].destinations, std::vector{in});
    p = read_npu(with("stream, ends = producer, port = 0") + streams("%a", true, 16) +
                 core("%b", "f", "Consume", 1, 1));
    EXPECT_EQ(p.buffers.size(), 2U);
    EXPECT_EQ(p.routes.at(0).source, out);
    EXPECT_THAT(error_of(with("stream, ends = none, port = 0")),
                HasSubstr("the ends of a stream are producer, consumer or both"));
    EXPECT_THAT(error_of(with("stream, ends = both, port = 1")), HasSubstr("stream port 1"));
    EXPECT_THAT(error_of(with("pigeon")), HasSubstr("transport is auto, dma"));
}

TEST(ObjectFifo, MemoryThatNotBothEndsReachIsNotShared) {
    const auto with = [](const char* consumer) {
        return error_of(std::string{kFifoTiles} +
                        fmt::format("aie.objectfifo @f(%a, {{{}}}, 2 : i32) {{transport = "
                                    "#aie.transport<shared_mem>}} : "
                                    "!aie.objectfifo<memref<16xi32>>\n",
                                    consumer));
    };
    EXPECT_EQ(with("%b"), "");
    EXPECT_THAT(with("%far"), HasSubstr("@f asks for memory that both of its ends reach"));
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
}

// Three designs in one device, whose six shim ends find two channels each way.
TEST(ObjectFifo, WhatTheSequenceDoesNotUseNeedsNoChannelOfAFullShim) {
    const auto fifo = [](const std::string& name, const char* from, const char* to) {
        return fmt::format(
            "aie.objectfifo @{}({}, {{{}}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n", name,
            from, to);
    };
    const auto sequence = [](const std::string& of) {
        return fmt::format(
            "aie.runtime_sequence @run_{0}(%x : memref<16xi32>) {{\n"
            "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {{id = 0 : i64, "
            "metadata = @in_{0}}} : memref<16xi32>\n"
            "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {{id = 1 : i64, "
            "metadata = @out_{0}, issue_token = true}} : memref<16xi32>\n"
            "aiex.npu.dma_wait {{symbol = @out_{0}}}\n}}\n",
            of);
    };
    std::string body = kFifoTiles;
    std::string sequences;
    for (const auto& [name, tile] :
         {std::pair{"a", "%a"}, std::pair{"b", "%b"}, std::pair{"c", "%far"}}) {
        body += fifo(fmt::format("in_{}", name), "%s", tile) +
                fifo(fmt::format("out_{}", name), tile, "%s");
        sequences +=
            sequence(name) + core(tile, fmt::format("in_{}", name).c_str(), "Consume", 1, 1);
    }
    ReadOptions options;
    options.sequence = "run_c";
    const design::Design run = design::read(body + sequences, options);
    ASSERT_EQ(run.program.routes.size(), 2U);
    EXPECT_EQ(run.program.routes[0].source,
              (program::ChannelId{{0, 0}, program::Direction::MM2S, 0}));
    EXPECT_EQ(run.program.routes[0].destinations.at(0).tile, (program::TileCoordinate{2, 4}));
    EXPECT_THAT(
        run.notes,
        testing::Contains(HasSubstr("left out with their cores (@in_a, @out_a, @in_b, @out_b)")));
    ASSERT_EQ(run.program.cores.size(), 1U);
    EXPECT_EQ(run.program.cores[0].tile, (program::TileCoordinate{2, 4}));
    EXPECT_THAT(error_of(body), HasSubstr("has no free MM2S channel left of its 2"));
}

// What the compiler's split leaves: a pool whose two segments two channels drain.
constexpr const char* kPools =
    "%u = aie.buffer(%m) {sym_name = \"u\"} : memref<48xi32>\n"
    "%p0 = aie.lock(%m) {init = 1 : i32, sym_name = \"p0\"}\n"
    "%c0 = aie.lock(%m) {init = 0 : i32, sym_name = \"c0\"}\n"
    "%p1 = aie.lock(%m) {init = 1 : i32, sym_name = \"p1\"}\n"
    "%c1 = aie.lock(%m) {init = 0 : i32, sym_name = \"c1\"}\n"
    "aie.objectfifo.pool @pool(%m) {depth = 1 : i32, buffers = [@u], segments = ["
    "#aie.objectfifo_segment<offset = 0, size = 16, produceLock = @p0, consumeLock = @c0>, "
    "#aie.objectfifo_segment<offset = 16, size = 32, produceLock = @p1, consumeLock = @c1>]} "
    ": memref<48xi32>\n"
    "aie.objectfifo.dma_endpoint @all(%m) fills @pool {segments = array<i32: 0, 1>}\n"
    "aie.objectfifo.dangling_endpoint @s(%s) DMA {fifoName = \"in\"}\n"
    "aie.objectfifo.flow from @s to [@all]\n"
    "aie.objectfifo.dma_endpoint @part(%m) drains @pool {segments = array<i32: 1>, channelIndex = "
    "3 : i32, iterCount = 5 : i32}\n"
    "aie.objectfifo.pool @own(%a) {depth = 3 : i32} : memref<32xi32>\n"
    "aie.objectfifo.dma_endpoint @fill(%a) fills @own\n"
    "aie.objectfifo.core_endpoint @take(%a) drains @own\n"
    "aie.objectfifo.flow from @part to [@fill]\n"
    "aie.core(%a) { %0 = aie.objectfifo.acquire @take (2) : memref<32xi32>\n"
    "aie.objectfifo.release @take (1) aie.end }\n";

TEST(ObjectFifo, PoolsEndpointsAndFlowsAreWhatTheySay) {
    const program::Program p = read_npu(std::string{kFifoTiles} + kPools);
    ASSERT_EQ(p.dmas.size(), 2U);
    const program::TileDma& memory = p.dmas[0];
    ASSERT_EQ(memory.descriptors.size(), 3U);
    EXPECT_EQ(memory.descriptors[0].length, 16);  // segment after segment
    EXPECT_EQ(memory.descriptors[1].length, 32);
    EXPECT_EQ(memory.descriptors[1].offset, 64);
    EXPECT_EQ(p.locks[static_cast<std::size_t>(memory.descriptors[1].acquire->lock)].name, "p1");
    EXPECT_EQ(memory.descriptors[1].next, memory.descriptors[0].id);
    EXPECT_EQ(p.locks[static_cast<std::size_t>(memory.descriptors[2].release->lock)].name, "p1");
    EXPECT_EQ(memory.descriptors[2].next, std::nullopt);  // passes are counted
    EXPECT_EQ(memory.starts[1].channel, 3);
    EXPECT_EQ(memory.starts[1].task.repeat, 5);
    EXPECT_EQ(p.dmas[1].descriptors.size(), 3U);  // the depth of the core's pool
    ASSERT_EQ(p.cores.at(0).script.size(), 2U);
    EXPECT_EQ(std::get<program::AcquireOp>(p.cores[0].script[0].op).action.value, -2);
    ASSERT_EQ(p.routes.size(), 2U);
    EXPECT_EQ(p.routes[1].source.index, 3);
}

// Both ends move depth * repeat_count * iter_count elements: what is sent repeats within a pass of
// its chain, what is taken in passes of its own.
TEST(ObjectFifo, IterationsEndWhatIsTakenAsWellAsWhatIsSent) {
    const auto of = [](const char* depths, const char* attributes) {
        return read_npu(
            fmt::format("{}aie.objectfifo @f(%a, {{%far}}, {}) {{{}}} : "
                        "!aie.objectfifo<memref<16xi32>>\n",
                        kFifoTiles, depths, attributes));
    };
    const program::Program three = of("2 : i32", "repeat_count = 3 : i32, iter_count = 5 : i32");
    ASSERT_EQ(three.dmas.size(), 2U);
    EXPECT_EQ(three.dmas[0].descriptors.size(), 6U);
    EXPECT_EQ(three.dmas[0].descriptors.back().next, std::nullopt);
    EXPECT_EQ(three.dmas[0].starts.at(0).task.repeat, 5);
    EXPECT_EQ(three.dmas[1].descriptors.size(), 2U);
    EXPECT_EQ(three.dmas[1].descriptors.back().next, std::nullopt);
    EXPECT_EQ(three.dmas[1].starts.at(0).task.repeat, 15);
    // One buffer: its descriptor stands as often in the chain as it repeats.
    const program::Program one = of("1 : i32", "repeat_count = 3 : i32, iter_count = 5 : i32");
    EXPECT_EQ(one.dmas.at(0).descriptors.size(), 3U);
    EXPECT_EQ(one.dmas[0].starts.at(0).task.repeat, 5);
    // Ends of different depths: until all that is sent has been taken.
    EXPECT_EQ(of("[4, 3]", "iter_count = 5 : i32").dmas.at(1).starts.at(0).task.repeat,
              7);  // 20 elements by 3
    // More passes than a task counts: for ever.
    const program::Program many = of("1 : i32", "repeat_count = 16 : i32, iter_count = 17 : i32");
    EXPECT_EQ(many.dmas.at(1).descriptors.back().next, many.dmas[1].descriptors.front().id);
}

// Ends of cores, and ends whose flow stands beside them, were taken to need a shim's channel each:
// the FIFOs were left out, and their cores with them.
TEST(ObjectFifo, EndpointsOfCoresNeedNoChannelOfAShim) {
    const program::Program p = read_npu(
        std::string{kFifoTiles} + kPools +
        "aie.objectfifo.pool @other(%b) {depth = 1 : i32} : memref<32xi32>\n"
        "aie.objectfifo.dma_endpoint @fill_other(%b) fills @other {channelIndex = 0 : i32}\n"
        "aie.flow(%m, DMA : 5, %b, DMA : 0)\n"
        "aie.objectfifo.core_endpoint @take_other(%b) drains @other\n"
        "aie.runtime_sequence(%x: memref<48xi32>) {\n"
        "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 48][0, 0, 0, 1]) {id = 0 : i64, metadata = "
        "@in} : memref<48xi32>\n}\n");
    EXPECT_EQ(std::get<program::AcquireOp>(p.cores.at(0).script.at(0).op).action.value, -2);
}

TEST(ObjectFifo, AnEndpointWithAChannelMayHaveItsFlowBesideIt) {
    const std::string pool = "aie.objectfifo.pool @q(%a) {depth = 1 : i32} : memref<32xi32>\n";
    const program::Program p =
        read_npu(kFifoTiles + pool +
                 "aie.objectfifo.dma_endpoint @d(%a) drains @q {channelIndex = 1 : i32}\n"
                 "aie.flow(%a, DMA : 1, %s, DMA : 0)\n");
    EXPECT_EQ(p.dmas.at(0).starts.at(0).channel, 1);
    EXPECT_THAT(error_of(kFifoTiles + pool + "aie.objectfifo.dma_endpoint @d(%a) drains @q\n"),
                HasSubstr("@d is in no flow and names no channel"));
    EXPECT_THAT(error_of(kFifoTiles + pool + "aie.objectfifo.dma_endpoint @d(%a) drains @r\n"),
                HasSubstr("no pool is named @r"));
    EXPECT_THAT(error_of(kFifoTiles + pool +
                         "aie.objectfifo.dma_endpoint @d(%a) drains @q {segments = array<i32: 1>, "
                         "channelIndex = 0 : i32}\n"),
                HasSubstr("the segments of @q are 0..0"));
    const std::string parts =
        "aie.objectfifo.pool @q(%a) {depth = 1 : i32, segments = ["
        "#aie.objectfifo_segment<offset = 0, size = 8>, "
        "#aie.objectfifo_segment<offset = 8, size = 8>, "
        "#aie.objectfifo_segment<offset = 16, size = 8>]} : memref<32xi32>\n"
        "aie.objectfifo.core_endpoint @c(%a) fills @q {segments = array<i32: 0, 2>}\n";
    EXPECT_THAT(error_of(kFifoTiles + parts),
                HasSubstr("a core's segments lie one behind the other"));
    EXPECT_THAT(
        error_of(kFifoTiles + std::string{"aie.objectfifo.pool @q(%a) {depth = 1 : i32} : "
                                          "memref<32xi32> { }\n"
                                          "aie.objectfifo.core_endpoint @c(%a) fills @q\n"}),
        HasSubstr("@q: a pool has at least one segment"));
    const std::string padded =
        "aie.objectfifo.pool @q(%m) {depth = 1 : i32} : memref<32xi32>\n"
        "aie.objectfifo.dma_endpoint @d(%m) {} @q {{channelIndex = 1 : i32, dimensions = "
        "#aie<bd_dim_layout_array_array[[<size = 29, stride = 1>]]>, padDimensions = "
        "#aie<bd_pad_layout_array_array[{}]>}}\n";
    const auto padding = [&](const char* role, const char* entries) {
        std::string text = kFifoTiles + padded;
        text.replace(text.find("{} @q"), 2, role);
        text.replace(text.find("{{channel"), 2, "{");
        text.replace(text.find("[{}]>}}"), 7, std::string{"["} + entries + "]>}");
        return text;
    };
    const program::Program sent =
        read_npu(padding("drains", "[<const_pad_before = 2, const_pad_after = 1>]"));
    ASSERT_EQ(sent.dmas.at(0).descriptors.at(0).padding.size(), 1U);
    EXPECT_EQ(sent.dmas[0].descriptors[0].padding[0].before, 2);
    EXPECT_EQ(sent.dmas[0].descriptors[0].length, 29);
    EXPECT_THAT(error_of(padding("fills", "[<const_pad_before = 2, const_pad_after = 1>]")),
                HasSubstr("what is padded is what drains a pool"));
    EXPECT_THAT(error_of(padding("drains", "[], []")),
                HasSubstr("padDimensions have one entry for each segment"));
    std::string overlap = parts;
    overlap.replace(overlap.find("offset = 8,"), 11, "offset = 7,");
    EXPECT_THAT(error_of(kFifoTiles + overlap), HasSubstr("the segments of a pool lie"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::object_fifo
