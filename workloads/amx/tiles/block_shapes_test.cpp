#include "workloads/amx/tiles/block_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

BlockShape first(const GemmProblem& problem, std::int64_t cores) {
    return shapes_by_expectation(problem, socket_of(cores)).front();
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

// Two rows of tiles and one block of columns: two wide ones take as many products each, and their
// first block, which nothing has prefetched, is four times as wide.
TEST(BlockShapes, TheFirstBlockOfColumnsComesFromFarAway) {
    EXPECT_EQ(first(gemm(32, 64, 4 * 16), 2).n_acc, 1);
}

// Lines of C are far, too, and with few k tiles they are most: no loads are left to save.
TEST(BlockShapes, WhereKIsShortTheSmallerBlocksAreFirst) {
    EXPECT_EQ(first(gemm(1024, 4 * 64, 960), 1), (BlockShape{1, 2}));
    EXPECT_EQ(first(gemm(1024, 16 * 64, 960), 1), (BlockShape{2, 2}));
    // Narrow results are fewer lines.
    EXPECT_EQ(first(gemm(1024, 4 * 64, 960, DataType::Int8, DataType::Int8), 1),
              (BlockShape{2, 2}));
}

// Three columns and a row of twelve k tiles are 48 KiB, the L1; of thirteen B comes from the L2
// again for each block of rows.
TEST(BlockShapes, WhereBStaysInTheL1WideBlocksComeBeforeSquareOnes) {
    const auto wide_first = [](std::int64_t m, std::int64_t k_tiles) {
        const auto shapes = shapes_by_expectation(gemm(m, k_tiles * 64, 960), socket_of(1));
        return std::find(shapes.begin(), shapes.end(), BlockShape{1, 3}) <
               std::find(shapes.begin(), shapes.end(), BlockShape{2, 2});
    };
    EXPECT_TRUE(wide_first(1008, 12));
    EXPECT_FALSE(wide_first(1008, 13));
}

TEST(BlockShapes, ThreeTilesOfColumnsAreOneBlockWhereRowsAreMany) {
    EXPECT_EQ(first(gemm(400, 64, 48), 8), (BlockShape{1, 3}));  // 50 rows a core
    EXPECT_NE(first(gemm(384, 64, 48), 8), (BlockShape{1, 3}));  // 48: no more than columns
    EXPECT_EQ(first(gemm(4000, 64, 64), 8), (BlockShape{1, 4}));
    EXPECT_NE(first(gemm(4000, 64, 80), 8), (BlockShape{1, 4}));
}

TEST(BlockShapes, NoneIsLargerThanTheProduct) {
    EXPECT_TRUE(fits({2, 3}, gemm(17, 64, 33)));
    EXPECT_FALSE(fits({3, 3}, gemm(17, 64, 33)));
    EXPECT_FALSE(fits({2, 4}, gemm(17, 64, 33)));
    for (const BlockShape& shape : shapes_by_expectation(gemm(17, 64, 33), socket_of(7))) {
        EXPECT_TRUE(fits(shape, gemm(17, 64, 33)));
    }
}

// Decompression takes as long as four and a half products; once for each block of rows on a core.
TEST(BlockShapes, CompressedWeightsAreDecompressedForTallBlocksWhereRowsAreMany) {
    EXPECT_EQ(first(narrow(4096, 2048, 256), 1), (BlockShape{4, 1}));
    EXPECT_EQ(first(narrow(16, 64, 16), 56), (BlockShape{1, 1}));
    // A tile each, or three times the products and as much decompression on a third of the cores.
    EXPECT_EQ(first(narrow(48, 64, 288), 56), (BlockShape{1, 1}));
    // With fewer cores than tiles, and all rows in a block, it is hidden among the products.
    EXPECT_EQ(first(narrow(48, 2048, 288), 3), (BlockShape{3, 1}));
    GemmProblem bytes = gemm(4096, 2048, 256, DataType::Int8, DataType::F32);
    bytes.b = DataType::Int4;
    EXPECT_EQ(first(bytes, 1), (BlockShape{2, 2})) << "as long as one product: loads are more";
}

// Dense weights are one wide block there.
TEST(BlockShapes, CompressedWeightsOfThreeTilesOfColumnsAreNoWideBlock) {
    EXPECT_NE(first(narrow(400, 64, 48), 8), (BlockShape{1, 3}));
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
