#include "arch/amx/socket/lane.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::socket {
namespace {

TEST(Lane, EverySlotIsTakenOnceAndTheFirstFreeOneIsGiven) {
    Lane lane;
    EXPECT_EQ(lane.take(5, 0), 5);
    EXPECT_EQ(lane.take(5, 0), 6);
    EXPECT_EQ(lane.take(3, 0), 3);  // left free before
    EXPECT_EQ(lane.take(3, 0), 4);
    EXPECT_EQ(lane.take(3, 0), 7);
    EXPECT_EQ(lane.take(9, 0), 9);
}

TEST(Lane, ManyWhoAskForOneSlotGetAsManyInARow) {
    Lane lane;
    for (std::int64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(lane.take(61, 61), 61 + i);
    }
}

TEST(Lane, ALongBusyStretchIsPassedAndIsFreeAgainOnceItIsPast) {
    Lane lane;
    for (std::int64_t i = 0; i < 8'000; ++i) {
        ASSERT_EQ(lane.take(0, 0), i);
    }
    for (std::int64_t i = 8'000; i < 8'400; ++i) {  // from 8192 on in place of the first ones
        ASSERT_EQ(lane.take(6'400, 6'400), i);
    }
}

TEST(Lane, SlotsThatArePastAreNeitherGivenNorRemembered) {
    Lane lane;
    EXPECT_EQ(lane.take(2, 0), 2);
    EXPECT_EQ(lane.take(2, 10), 10);
    for (const std::int64_t later :
         {8'192, 8'202, 100'000}) {  // where a table of slots begins anew
        EXPECT_EQ(lane.take(later + 2, later), later + 2);
        EXPECT_EQ(lane.take(later + 10, later), later + 10);
    }
}

TEST(Lane, SlotsThatWereTakenLongAgoAreFreeAgain) {
    Lane lane;
    for (std::int64_t i = 0; i < 8'192; ++i) {
        ASSERT_EQ(lane.take(0, 0), i);
    }
    constexpr std::int64_t kLater = 8'192 * 100 + 37;
    for (std::int64_t i = 0; i < 200; ++i) {
        ASSERT_EQ(lane.take(kLater, kLater), kLater + i);
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
