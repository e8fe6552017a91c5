#include "arch/fabric/read_tracker.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::fabric {
namespace {

using Reads = std::vector<std::uint64_t>;

struct TwoBlocks : testing::Test {
    ReadTracker tracker{2, base::Bytes{256}};
    void SetUp() override {
        ASSERT_TRUE(tracker.begin(0, 0));
        ASSERT_TRUE(tracker.begin(1024, 1));
    }
};

TEST_F(TwoBlocks, AThirdWaitsForAnEntry) {
    EXPECT_FALSE(tracker.begin(512, 2));
    EXPECT_EQ(tracker.end(0), Reads{2});
}

TEST_F(TwoBlocks, ReadsOfABlockUnderWayNeedNoEntry) {
    EXPECT_TRUE(tracker.begin(128, 2));
    EXPECT_FALSE(tracker.begin(512, 3));
    EXPECT_EQ(tracker.end(0), Reads{});  // one of two
    EXPECT_EQ(tracker.end(128), Reads{3});
}

TEST_F(TwoBlocks, ReadsThatWaitForOneBlockGoTogetherInOrderOfTheirBlocks) {
    EXPECT_FALSE(tracker.begin(512, 2));
    EXPECT_FALSE(tracker.begin(768, 3));
    EXPECT_FALSE(tracker.begin(640, 4));
    EXPECT_EQ(tracker.end(1024), (Reads{2, 4}));
    EXPECT_EQ(tracker.end(512), Reads{});
    EXPECT_EQ(tracker.end(640), Reads{3});
}

TEST_F(TwoBlocks, BlocksFarApartAreToldApart) {
    constexpr std::int64_t kFar = std::int64_t{1} << 30;
    EXPECT_TRUE(tracker.begin(kFar * 0 + 64, 2));  // with the first
    EXPECT_FALSE(tracker.begin(kFar, 3));
    EXPECT_FALSE(tracker.begin(kFar * 2, 4));
    EXPECT_EQ(tracker.end(1024), Reads{3});
    EXPECT_EQ(tracker.end(0), Reads{});
    EXPECT_EQ(tracker.end(kFar), Reads{4});
    EXPECT_TRUE(tracker.begin(kFar * 2 + 32, 5));
    EXPECT_EQ(tracker.end(64), Reads{});
    EXPECT_TRUE(tracker.begin(kFar, 6));
}

TEST_F(TwoBlocks, EntriesAreFreeAgain) {
    EXPECT_EQ(tracker.end(0), Reads{});
    EXPECT_EQ(tracker.end(1024), Reads{});
    EXPECT_TRUE(tracker.begin(4096, 2));
    EXPECT_TRUE(tracker.begin(8192, 3));
    EXPECT_FALSE(tracker.begin(0, 4));
}

}  // namespace
}  // namespace tilesim::arch::fabric
