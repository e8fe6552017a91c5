#include "arch/amx/caches/stride_table.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

TEST(StrideTable, AfterTwoEqualStridesOfAnInstructionTheNextLineIsForeseen) {
    for (const Line stride : {1, 2, 3, 4, -1, -4}) {
        StrideTable table;
        EXPECT_EQ(table.access(7, 140), Cache::kNone);
        EXPECT_EQ(table.access(7, 140 + stride), Cache::kNone);
        EXPECT_EQ(table.access(7, 140 + 2 * stride), 140 + 3 * stride);
    }
}

TEST(StrideTable, LongStridesAndOtherInstructionsForeseeNothing) {
    StrideTable table;
    for (const Line line : {130, 135, 140, 145}) {
        EXPECT_EQ(table.access(7, line), Cache::kNone);
    }
    for (const std::size_t instruction : {11U, 12U, 13U}) {
        EXPECT_EQ(table.access(instruction, 130 + static_cast<Line>(instruction)), Cache::kNone);
    }
}

TEST(StrideTable, AnInstructionOfTheSamePlaceBeginsAnew) {
    StrideTable table;
    table.access(7, 140);
    table.access(7, 141);
    EXPECT_EQ(table.access(7 + 64, 142), Cache::kNone);
    EXPECT_EQ(table.access(7 + 64, 143), Cache::kNone);
    EXPECT_EQ(table.access(7 + 64, 144), 145);
    EXPECT_EQ(table.access(7, 145), Cache::kNone);
}

TEST(StrideTable, TheSameLineOverAndOverForeseesNothing) {
    StrideTable table;
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(table.access(7, 140), Cache::kNone);
    }
}

TEST(StrideTable, NothingBeyondThePageIsForeseen) {
    StrideTable table;
    table.access(7, 61);
    table.access(7, 62);
    EXPECT_EQ(table.access(7, 63), Cache::kNone);  // 64 lines a page
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
