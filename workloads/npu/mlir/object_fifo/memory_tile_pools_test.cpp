// Elements on memory tiles: those with no room there, and those that lie in one buffer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/npu/mlir/design/design_testing.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

using design::error_of;
using design::kFifoTiles;
using design::read_npu;

namespace {

using testing::HasSubstr;

program::TileCoordinate tile_of(const program::Program& program, const std::string& buffer) {
    for (const program::Buffer& each : program.buffers) {
        if (each.name == buffer) {
            return each.tile;
        }
    }
    ADD_FAILURE() << "no buffer is named " << buffer;
    return {};
}

// Each tile has room for one element. Those of @middle could go west or east; only east of it
// leaves the west's room to @edge, which has no other neighbour.
TEST(MemoryTilePools, AnElementLeavesRoomForTheOneBehindIt) {
    std::string body;
    for (int column = 0; column < 4; ++column) {
        body += fmt::format(
            "%m{0} = aie.tile({0}, 1)\n%s{0} = aie.tile({0}, 0)\n"
            "%r{0} = aie.buffer(%m{0}) : memref<324288xi8>\n",
            column);
    }
    for (const auto& [name, column] : {std::pair{"middle", 2}, std::pair{"edge", 0}}) {
        body += fmt::format(
            "aie.objectfifo @{0}(%s{1}, {{%m{1}}}, 2 : i32) : !aie.objectfifo<memref<200000xi8>>\n",
            name, column);
    }
    const program::Program p = read_npu(body);
    EXPECT_EQ(tile_of(p, "middle_cons_buff_0"), (program::TileCoordinate{2, 1}));
    EXPECT_EQ(tile_of(p, "middle_cons_buff_1"), (program::TileCoordinate{3, 1}));
    EXPECT_EQ(tile_of(p, "edge_cons_buff_0"), (program::TileCoordinate{0, 1}));
    EXPECT_EQ(tile_of(p, "edge_cons_buff_1"), (program::TileCoordinate{1, 1}));
}

std::string split(const std::string& attributes, const std::string& of_output = "") {
    return std::string{kFifoTiles} +
           fmt::format(
               "aie.objectfifo @in(%s, {{%m}}, 6 : i32) {{{}}} : "
               "!aie.objectfifo<memref<24xi32>>\n"
               "aie.objectfifo @x(%m, {{%a}}, [6, 2]) {{{}}} : !aie.objectfifo<memref<8xi32>>\n"
               "aie.objectfifo @y(%m, {{%b}}, [6, 2]) : !aie.objectfifo<memref<16xi32>>\n"
               "aie.objectfifo.link [@in] -> [@x, @y] ([] [0, 8])\n",
               attributes, of_output);
}

const program::TileDma& dma_of(const program::Program& program, program::TileCoordinate tile) {
    for (const program::TileDma& each : program.dmas) {
        if (each.tile == tile) {
            return each;
        }
    }
    throw std::out_of_range("no such DMA");
}

// A descriptor a segment goes through all elements of one buffer, in place of one an element.
TEST(MemoryTilePools, ElementsOfOneBufferAreIteratedThrough) {
    const program::Program p = read_npu(split("iterate_bds"));
    EXPECT_EQ(tile_of(p, "in_cons_buff"), (program::TileCoordinate{0, 1}));
    const program::TileDma& dma = dma_of(p, {0, 1});
    ASSERT_EQ(dma.descriptors.size(), 4U);  // two that fill, one of each that empties
    const std::int64_t offsets[] = {0, 32, 0, 32};
    const std::int64_t lengths[] = {8, 16, 8, 16};
    for (std::size_t i = 0; i < 4; ++i) {
        const program::BufferDescriptor& each = dma.descriptors[i];
        EXPECT_EQ(p.buffers[static_cast<std::size_t>(each.buffer)].bytes, 6 * 24 * 4);
        EXPECT_EQ(each.offset, offsets[i]);
        EXPECT_EQ(each.length, lengths[i]);
        ASSERT_TRUE(each.iteration);
        EXPECT_EQ(each.iteration->size, 6);
        EXPECT_EQ(each.iteration->stride, 24);
        EXPECT_EQ(each.iteration->current, 0);
        EXPECT_EQ(p.locks[static_cast<std::size_t>(each.acquire->lock)].initial, i < 2 ? 6 : 0);
    }
    EXPECT_EQ(dma.descriptors[0].next, dma.descriptors[1].id);
    EXPECT_EQ(dma.descriptors[1].next, dma.descriptors[0].id);
    EXPECT_EQ(dma.descriptors[2].next, dma.descriptors[2].id);
    // The cores' own elements stay a buffer each.
    EXPECT_EQ(tile_of(p, "x_cons_buff_1"), (program::TileCoordinate{0, 2}));
    EXPECT_EQ(dma_of(read_npu(split("")), {0, 1}).descriptors.size(), 24U);
}

TEST(MemoryTilePools, OneOfALinksFifosAsksForOneBuffer) {
    EXPECT_EQ(dma_of(read_npu(split("", "iterate_bds")), {0, 1}).descriptors.size(), 4U);
}

TEST(MemoryTilePools, WhatCannotBeIteratedIsRefused) {
    EXPECT_THAT(error_of(split("iterate_bds", "repeat_count = 2 : i32")),
                HasSubstr("cannot take an element again"));
    const std::string alone = std::string{kFifoTiles} +
                              "aie.objectfifo @f(%a, {%far}, 4 : i32) {iterate_bds} : "
                              "!aie.objectfifo<memref<16xi32>>\n";
    EXPECT_THAT(error_of(alone), HasSubstr("@f: iterate_bds is for links through a memory tile"));
    EXPECT_THAT(error_of(alone + "aie.objectfifo @g(%far, {%b}, 4 : i32) : "
                                 "!aie.objectfifo<memref<16xi32>>\n"
                                 "aie.objectfifo.link [@f] -> [@g] ([] [])\n"),
                HasSubstr("iterate_bds is for links through a memory tile"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::object_fifo
