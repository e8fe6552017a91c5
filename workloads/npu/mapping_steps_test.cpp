#include "workloads/npu/mapping_steps.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tilesim::workloads::npu {
namespace {

TEST(MappingSteps, PartsAreTheHalvesAndWhatSmallerArraysHave) {
    using Parts = std::vector<std::int64_t>;
    for (const Parts& expected : {Parts{1}, Parts{4, 2, 1}, Parts{6, 4, 3, 2, 1}, Parts{8, 4, 2, 1},
                                  Parts{12, 8, 6, 4, 3, 2, 1}, Parts{7, 4, 3, 2, 1}}) {
        const auto parts = parts_of(expected.front());
        EXPECT_EQ(Parts(parts.begin(), parts.end()), expected);
    }
}

TEST(MappingSteps, TilesGoUpToWhereTheyWouldBePaddingAlone) {
    EXPECT_EQ(most_tile(100, 1, 16), 112);
    EXPECT_EQ(most_tile(100, 4, 16), 32);
    EXPECT_EQ(most_tile(1, 4, 16), 16);
    EXPECT_EQ(most_tile(4096, 8, 16), 256);
}

}  // namespace
}  // namespace tilesim::workloads::npu
