#include "workloads/amx/tiles/block_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/base/units.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

using arch::memory::device::MemoryConfig;

BlockShape first(const GemmProblem& problem, std::int64_t cores) {
    return shapes_by_expectation(problem, socket_of(cores), {}).front();
}

// As far away.
MemoryConfig with_rows_that_open_in_no_time() {
    MemoryConfig memory;
    memory.timing.read_latency += memory.timing.tRCD;
    memory.timing.tRCD = memory.timing.tRP = arch::base::Cycles{0};
    return memory;
}

TEST(BlockShapes, ThreadsHaveABlockEach) {
    EXPECT_EQ(threads_for(gemm(33, 64, 64), {1, 2}, 56), 3 * 2);
    EXPECT_EQ(threads_for(gemm(33, 64, 64), {2, 2}, 56), 2 * 2);
    EXPECT_EQ(threads_for(gemm(33, 64, 64), {1, 1}, 7), 7);
}

// 2 x 2 tiles load four for four products, the fewest.
TEST(BlockShapes, WhereSharesAreLargeThoseThatLoadLeastAreFirst) {
    EXPECT_EQ(first(gemm(2048, 2560, 2048), 4), (BlockShape{2, 2}));
}

// Eight by seven tiles: a tile each for 56 cores, blocks of 2 x 2 for 16 of them.
TEST(BlockShapes, WhereFewBlocksLeaveCoresIdleSmallOnesAreFirst) {
    EXPECT_EQ(first(gemm(8 * 16, 64, 7 * 16), 56), (BlockShape{1, 1}));
    EXPECT_NE(first(gemm(8 * 16, 2560, 7 * 16), 1), (BlockShape{1, 1}));
}

// Four tiles of columns of ten in two whole blocks and a half: nobody computes what is not there.
TEST(BlockShapes, TheLastBlockIsAsLargeAsWhatIsLeft) {
    EXPECT_EQ(first(gemm(336, 64, 160), 1), (BlockShape{1, 4}));
}

// Nothing hides its lines but each other: of more under way at a time a wide one costs little.
TEST(BlockShapes, TheFirstBlockOfColumnsComesFromFarAway) {
    const auto first_of = [](std::int64_t l2_outstanding) {
        arch::amx::AmxConfig socket = socket_of(8);
        socket.caches.l2_outstanding = l2_outstanding;
        return shapes_by_expectation(gemm(192, 1344, 336), socket, {}).front();
    };
    EXPECT_EQ(first_of(48), (BlockShape{3, 1}));
    EXPECT_EQ(first_of(480), (BlockShape{2, 2}));
}

// For each run of lines of a row of C another row of DRAM is opened: wider blocks have fewer. As
// far away, but with rows that open in no time, they have nothing to gain.
TEST(BlockShapes, RunsOfLinesOfCOpenRowsOfDram) {
    const auto first_of = [](const MemoryConfig& memory) {
        return shapes_by_expectation(gemm(560, 256, 80), socket_of(4), memory).front();
    };
    EXPECT_EQ(first_of({}), (BlockShape{1, 3}));
    EXPECT_EQ(first_of(with_rows_that_open_in_no_time()), (BlockShape{3, 1}));
}

// Rows of DRAM aside: of lines far away a single column of B's is least to wait for.
TEST(BlockShapes, OperandsThatAreNearLeaveItToLoadsAndProducts) {
    using DataIn = AmxMapping::DataIn;
    const auto first_of = [](DataIn data_in) {
        return shapes_by_expectation(gemm(64, 64, 256), socket_of(1),
                                     with_rows_that_open_in_no_time(), data_in)
            .front();
    };
    EXPECT_EQ(first_of(DataIn::Memory), (BlockShape{4, 1}));
    EXPECT_EQ(first_of(DataIn::L3), (BlockShape{2, 2}));
    EXPECT_EQ(first_of(DataIn::L2), (BlockShape{2, 2}));
}

// As many tiles to load, two of A and one of B or one and two: the first 5 % slower, simulated.
TEST(BlockShapes, OfAsManyTilesRowsComeLaterThanColumns) {
    EXPECT_EQ(first(gemm(50, 62, 357, DataType::Bf16, DataType::F32), 56), (BlockShape{1, 1}));
}

// Several cores read the rows of A: shorter blocks of them have fewer lines to wait for.
TEST(BlockShapes, ALineOfAComesTheLaterTheMoreCoresShareIt) {
    const auto first_of = [](std::int64_t link_width) {
        arch::amx::AmxConfig socket = socket_of(56);
        socket.uncore.link_width = arch::base::BytesPerCycle{link_width};
        return shapes_by_expectation(gemm(288, 640, 192), socket, {}).front();
    };
    EXPECT_EQ(first_of(32), (BlockShape{1, 1}));
    EXPECT_EQ(first_of(512), (BlockShape{2, 1}));
}

// Lines of C are far, too, and with few k tiles they are most: blocks of 2 x 2 tiles load less, but
// one core has more of them. Narrow results are fewer lines.
TEST(BlockShapes, WhereKIsShortTheSmallerBlocksAreFirst) {
    EXPECT_EQ(first(gemm(288, 64, 592), 8), (BlockShape{1, 2}));
    EXPECT_EQ(first(gemm(288, 25 * 64, 592), 8), (BlockShape{2, 2}));
    EXPECT_EQ(first(gemm(288, 64, 592, DataType::Int8, DataType::Int8), 8), (BlockShape{1, 4}));
}

AmxMapping blocks(std::int64_t m_acc, std::int64_t n_acc) {
    AmxMapping map;
    map.m_acc = m_acc;
    map.n_acc = n_acc;
    map.partition = AmxMapping::Partition::MN;
    return map;
}

// Of 48 KiB three quarters: twelve k tiles of a row of tiles and two columns. Where another row is
// to stay, too, until the next columns read both again, nothing passes but C: ten in 87 %.
TEST(BlockShapes, KIsCutForTilesToBeInTheL1AsTheyAreReadAgain) {
    const auto k_tiles = [](std::int64_t m, std::int64_t n, std::int64_t m_acc) {
        return use_of_l1(gemm(m, 22 * 64, n), blocks(m_acc, 2), socket_of(1)).k_tiles;
    };
    EXPECT_EQ(k_tiles(64, 128, 1), 12);
    EXPECT_EQ(k_tiles(32, 128, 1), 10);
    EXPECT_EQ(k_tiles(64, 32, 1), 22) << "one block of columns reads nothing again";
    EXPECT_EQ(k_tiles(64, 128, 2), 22) << "loads are little longer than products: C moves more";
    EXPECT_EQ(use_of_l1(gemm(64, 22 * 64, 128, DataType::Int8, DataType::Int8), blocks(1, 2),
                        socket_of(1))
                  .k_tiles,
              22)
        << "post-operations need all of K";
}

// A core's only block of rows is cut into blocks of k of 704 B anyhow: against those, not against
// all of K, it pays to keep A's four tiles of rows in the L1 until the next column reads them.
TEST(BlockShapes, WhatStaysInTheL1IsWeighedAgainstTheBlocksOfKThatThereWouldBe) {
    const auto of_a_block = [](std::int64_t k_tiles, std::int64_t n) {
        return use_of_l1(gemm(64, k_tiles * 64, n), blocks(4, 1), socket_of(1)).k_tiles;
    };
    EXPECT_EQ(of_a_block(44, 80), 8);   // five tiles of 1 KiB a k tile
    EXPECT_EQ(of_a_block(44, 16), 11);  // one column: nothing is read again
    EXPECT_EQ(of_a_block(5, 80), 5);
}

// 18 k tiles of two columns fill it. Loads that pass it by are no slower on Emerald Rapids; on
// Sapphire Rapids they are, and save less than they cost, unless B was decompressed into it.
TEST(BlockShapes, APassesTheL1ByWhereThatKeepsB) {
    const auto nontemporal = [](const GemmProblem& problem, std::int64_t line) {
        arch::amx::AmxConfig socket = socket_of(1);
        socket.access.nontemporal_line = arch::base::Cycles{line};
        return use_of_l1(problem, blocks(2, 2), socket).a_nontemporal;
    };
    const auto bytes = [](std::int64_t k_tiles) {
        return gemm(64, k_tiles * 64, 128, DataType::Int8, DataType::Int8);
    };
    EXPECT_TRUE(nontemporal(bytes(18), 0));
    EXPECT_FALSE(nontemporal(bytes(19), 0));
    EXPECT_FALSE(nontemporal(bytes(18), 2));
    EXPECT_FALSE(nontemporal(bytes(9), 0)) << "A stays, too";
    EXPECT_TRUE(nontemporal(narrow(64, 18 * 32, 128), 2));
    EXPECT_FALSE(nontemporal(narrow(64, 19 * 32, 128), 2));
    EXPECT_FALSE(nontemporal(narrow(32, 18 * 32, 128), 2)) << "decompressed among the products";
}

// Of f32 all lines of B are far, which nothing prefetches: fewer columns to a core.
TEST(BlockShapes, NothingPrefetchesColumnsOfF32) {
    const auto first_of = [](DataType type) {
        return first(gemm(320, 352, 288, type, DataType::F32), 64);
    };
    EXPECT_EQ(first_of(DataType::F32), (BlockShape{3, 1}));
    EXPECT_EQ(first_of(DataType::Bf16), (BlockShape{2, 1}));
}

TEST(BlockShapes, NoneIsLargerThanTheProduct) {
    EXPECT_TRUE(fits({2, 3}, gemm(17, 64, 33)));
    EXPECT_FALSE(fits({3, 3}, gemm(17, 64, 33)));
    EXPECT_FALSE(fits({2, 4}, gemm(17, 64, 33)));
    for (const BlockShape& shape : shapes_by_expectation(gemm(17, 64, 33), socket_of(7), {})) {
        EXPECT_TRUE(fits(shape, gemm(17, 64, 33)));
    }
}

// Decompression takes as long as four and a half products; once for all rows on a core.
TEST(BlockShapes, CompressedWeightsAreDecompressedOnceForAllRows) {
    EXPECT_EQ(first(narrow(4096, 2048, 256), 1), (BlockShape{2, 2}));
    EXPECT_EQ(first(narrow(16, 64, 16), 56), (BlockShape{1, 1}));
    // A tile each, or three times the products and as much decompression on a third of the cores.
    EXPECT_EQ(first(narrow(48, 64, 288), 56), (BlockShape{1, 1}));
    // With fewer cores than tiles, and all rows in a block, it is hidden among the products.
    EXPECT_EQ(first(narrow(48, 2048, 288), 3), (BlockShape{3, 1}));
    GemmProblem bytes = gemm(4096, 2048, 256, DataType::Int8, DataType::F32);
    bytes.b = DataType::Int4;
    EXPECT_EQ(first(bytes, 1), (BlockShape{2, 2})) << "as long as one product: loads are more";
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
