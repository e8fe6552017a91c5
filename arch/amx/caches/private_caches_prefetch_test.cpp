#include <gtest/gtest.h>

#include "arch/amx/caches/private_caches.hpp"
#include "arch/amx/caches/private_caches_testing.hpp"

namespace tilesim::arch::amx::caches {
namespace {

TEST(PrivateCaches, APrefetchIntoTheL2HoldsAFillBufferUntilTheL2HasAnswered) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 2;
    PrivateCaches caches(config, kClock);
    caches.warm(1, Level::L1, false);
    EXPECT_EQ(caches.prefetch(1, false, 5),
              PrivateCaches::Outcome::Waiting);  // a hit of the L1 too
    EXPECT_EQ(caches.prefetch(2, false, 5), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{2}));
    EXPECT_EQ(caches.prefetch(3, false, 5), PrivateCaches::Outcome::NoBuffer);
    const std::uint64_t refused = caches.version();
    pass(caches, 5, 5 + 17 + 2);
    EXPECT_EQ(caches.version(), refused);
    pass(caches, 5 + 17 + 2, 5 + 17 + 3);  // its answer, two cycles until the buffer is free
    EXPECT_NE(caches.version(), refused);
    EXPECT_EQ(caches.prefetch(3, false, 30), PrivateCaches::Outcome::Waiting);
    caches.deliver(2, 31);
    pass(caches, 30, 32);
    EXPECT_TRUE(caches.contains_l2(2));
    EXPECT_FALSE(caches.contains_l1(2));
}

TEST(PrivateCaches, APrefetchWaitsForAMissOfTheL2ToEnd) {
    PrivateCacheConfig config = path_sample();
    config.l2_outstanding = 1;
    PrivateCaches caches(config, kClock);
    EXPECT_EQ(caches.prefetch(1, false, 0), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(caches.prefetch(2, false, 0), PrivateCaches::Outcome::NoBuffer);
    caches.deliver(1, 29);
    pass(caches, 0, 29);
    const std::uint64_t refused = caches.version();
    pass(caches, 29, 30);
    EXPECT_NE(caches.version(), refused);  // so that who has been refused asks again
    EXPECT_EQ(caches.prefetch(2, false, 30), PrivateCaches::Outcome::Waiting);
}

TEST(PrivateCaches, APrefetchOfALineInTheL2IsAUseOfIt) {
    PrivateCaches caches(tiny_sample(), kClock);
    for (const Line line : {1, 2, 3}) {
        caches.warm(line, Level::L2, false);
    }
    caches.prefetch(1, false, 0);
    caches.load(4, 0, 0, true);
    caches.outbox().clear();
    caches.deliver(4, 29);
    pass(caches, 0, 30);
    ASSERT_EQ(caches.outbox().size(), 1U);
    EXPECT_EQ(caches.outbox()[0].line, 2);  // 1 was used later
}

TEST(PrivateCaches, ALoadInstructionsThirdEqualStrideIsFetchedIntoTheL1) {
    PrivateCacheConfig config = path_sample();
    config.l1_stride = true;
    PrivateCaches caches(config, kClock);
    for (const Line line : {640, 642, 644}) {
        caches.warm(line, Level::L1, false);
        caches.train(7, line, 0);
    }
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{646}));
    caches.deliver(646, 29);
    pass(caches, 0, 30);
    EXPECT_TRUE(caches.contains_l1(646));
}

TEST(PrivateCaches, TheNextLinePrefetcherFetchesTheLineAfterAMissOfTheL1) {
    PrivateCacheConfig config = path_sample();
    PrivateCaches off(config, kClock);
    off.load(10, 0, 0, true);
    EXPECT_EQ(asked_for(off), (std::vector<Line>{10}));
    config.l1_next_line = true;
    PrivateCaches on(config, kClock);
    on.warm(20, Level::L1, false);
    on.warm(31, Level::L1, false);
    on.load(20, 0, 0, true);  // a hit starts none
    EXPECT_TRUE(asked_for(on).empty());
    on.load(10, 0, 7, true);
    EXPECT_EQ(asked_for(on), (std::vector<Line>{10, 11}));
    on.load(30, 0, 8, true);  // line 31 is there
    EXPECT_EQ(asked_for(on), (std::vector<Line>{30}));
    EXPECT_EQ(on.level_of(31), Level::L1);  // and not on its way
    on.deliver(11, 29);
    EXPECT_TRUE(pass(on, 0, 30).empty());  // nobody waits for it
    EXPECT_TRUE(on.contains_l1(11));
}

TEST(PrivateCaches, TheAdjacentLineOfAMissOfTheL2IsFetchedIntoTheL2) {
    PrivateCacheConfig config = path_sample();
    config.l2_adjacent_line = PrivateCacheConfig::AdjacentLine::IntoL2;
    PrivateCaches caches(config, kClock);
    caches.warm(21, Level::L2, false);
    caches.warm(30, Level::L2, false);
    caches.load(7, 0, 0, true);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{7, 6}));
    caches.load(20, 0, 0, true);  // its pair is there
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{20}));
    caches.load(30, 0, 0, true);  // no miss
    EXPECT_TRUE(asked_for(caches).empty());
    caches.deliver(6, 29);
    pass(caches, 0, 30);
    EXPECT_TRUE(caches.contains_l2(6));
    EXPECT_FALSE(caches.contains_l1(6));
}

TEST(PrivateCaches, TheStreamerFollowsAscendingLoadsOfTheL2WithinThePage) {
    PrivateCacheConfig config = path_sample();
    config.l2_streamer = 3;
    config.l2_streamer_wakes = 1;
    PrivateCaches caches(config, kClock);
    caches.warm(65, Level::L2, false);
    caches.warm(67, Level::L2, false);
    caches.load(64, 0, 0, true);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{64}));
    caches.load(65, 0, 0, true);  // a hit of the L2 trains it too; 67 is there
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{66}));
    caches.load(126, 0, 0, true);  // the page ends with line 127
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{126, 127}));
    caches.own(192, 0);  // stores train nothing
    caches.own(193, 0);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{192, 193}));
}

std::vector<UncoreRequest::Kind> kinds_asked(PrivateCaches& caches) {
    std::vector<UncoreRequest::Kind> kinds;
    for (const UncoreRequest& request : caches.outbox()) {
        kinds.push_back(request.kind);
    }
    return kinds;
}

TEST(PrivateCaches, TheStreamerFetchesIntoTheL3WhileTheL1HasAllItsMissesUnderWay) {
    PrivateCacheConfig config = path_sample();
    config.l2_streamer = 2;
    config.l2_streamer_wakes = 1;
    config.fill_buffers = 2;
    PrivateCaches caches(config, kClock);
    caches.load(64, 0, 0, true);
    caches.load(65, 0, 0, true);
    using Kind = UncoreRequest::Kind;
    EXPECT_EQ(kinds_asked(caches),
              (std::vector<Kind>{Kind::Read, Kind::Read, Kind::Prefetch, Kind::Prefetch}));
}

TEST(PrivateCaches, TheAdjacentLineGoesIntoTheL3WhileTheL1HasAllItsMissesUnderWay) {
    PrivateCacheConfig config = path_sample();
    config.l2_adjacent_line = PrivateCacheConfig::AdjacentLine::IntoL2;
    config.fill_buffers = 2;
    PrivateCaches caches(config, kClock);
    caches.load(7, 0, 0, true);
    caches.load(20, 0, 0, true);
    using Kind = UncoreRequest::Kind;
    EXPECT_EQ(kinds_asked(caches),
              (std::vector<Kind>{Kind::Read, Kind::Read, Kind::Read, Kind::Prefetch}));
}

TEST(PrivateCaches, TheAdjacentLineGoesIntoTheL3AloneWhereItIsTo) {
    PrivateCacheConfig config = path_sample();
    config.l2_adjacent_line = PrivateCacheConfig::AdjacentLine::IntoL3;
    PrivateCaches caches(config, kClock);
    caches.warm(21, Level::L2, false);
    caches.load(7, 0, 0, true);
    caches.load(20, 0, 0, true);  // its pair is there
    using Kind = UncoreRequest::Kind;
    EXPECT_EQ(kinds_asked(caches), (std::vector<Kind>{Kind::Read, Kind::Prefetch, Kind::Read}));
}

TEST(PrivateCaches, TheStreamerFetchesIntoTheL3WhileMissesOfLoadsLeaveTheL2NoPlace) {
    PrivateCacheConfig config = path_sample();
    config.l2_streamer = 2;
    config.l2_streamer_wakes = 1;
    config.l2_outstanding = 3;  // of which loads have two, half at least
    PrivateCaches caches(config, kClock);
    caches.load(64, 0, 0, true);
    caches.load(65, 0, 0, true);  // 66 finds the last place, 67 none
    using Kind = UncoreRequest::Kind;
    EXPECT_EQ(kinds_asked(caches),
              (std::vector<Kind>{Kind::Read, Kind::Read, Kind::Read, Kind::Prefetch}));
    EXPECT_FALSE(caches.full());
}

TEST(PrivateCaches, TheStreamerGivesUpWhatPrefetchesLeaveNoPlaceFor) {
    PrivateCacheConfig config = path_sample();
    config.l2_streamer = 2;
    config.l2_streamer_wakes = 1;
    config.l2_outstanding = 5;  // two of loads, three of prefetches
    PrivateCaches caches(config, kClock);
    for (const Line line : {200, 210, 220}) {
        caches.prefetch(line, false, 0);
    }
    caches.load(64, 0, 0, true);
    caches.load(65, 0, 0, true);
    EXPECT_EQ(kinds_asked(caches), std::vector<UncoreRequest::Kind>(5, UncoreRequest::Kind::Read));
}

TEST(PrivateCaches, APrefetchIntoTheL1TakesAFillBufferWhereTheLineIsNotThere) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 1;
    PrivateCaches caches(config, kClock);
    caches.warm(1, Level::L1, false);
    EXPECT_EQ(caches.prefetch(1, true, 0), PrivateCaches::Outcome::Hit);
    EXPECT_EQ(caches.prefetch(10, true, 0), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(caches.prefetch(20, true, 0), PrivateCaches::Outcome::NoBuffer);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10}));
}

TEST(PrivateCaches, StridesAreFollowedWhereTheDeviceDoesSoAndTheLineIsNotThere) {
    for (const bool on : {false, true}) {
        PrivateCacheConfig config = path_sample();
        config.l1_stride = on;
        config.fill_buffers = 1;
        PrivateCaches caches(config, kClock);
        for (const Line line : {640, 642, 644, 646}) {
            caches.warm(line, Level::L1, false);
        }
        for (const Line line : {640, 642, 644}) {  // 646 is there
            caches.train(7, line, 0);
        }
        EXPECT_FALSE(caches.full());
        caches.train(7, 646, 0);
        EXPECT_EQ(asked_for(caches), on ? std::vector<Line>{648} : std::vector<Line>{});
    }
}

// Line 646 is on its way for TILELOADDT1, which would leave the L1 without it.
TEST(PrivateCaches, StridesAreFollowedWhereAFillBufferIsFree) {
    for (const std::int64_t buffers : {1, 2}) {
        PrivateCacheConfig config = path_sample();
        config.l1_stride = true;
        config.fill_buffers = buffers;
        PrivateCaches caches(config, kClock);
        caches.warm(646, Level::L2, false);
        caches.load(646, 0, 0, false);
        for (const Line line : {640, 642, 644}) {
            caches.train(7, line, 0);
        }
        pass(caches, 0, 18);
        EXPECT_EQ(caches.contains_l1(646), buffers == 2);
    }
}

TEST(PrivateCaches, ALineOnItsWayIsNotFetchedIntoTheL3Either) {
    PrivateCacheConfig config = path_sample();
    config.l2_adjacent_line = PrivateCacheConfig::AdjacentLine::IntoL2;
    config.fill_buffers = 2;
    PrivateCaches caches(config, kClock);
    caches.prefetch(21, false, 0);
    caches.load(20, 0, 0, true);  // now both buffers are taken
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{21, 20}));
}

TEST(PrivateCaches, AMissTrainsTheStreamerWhenTheUncoreIsAsked) {
    PrivateCacheConfig config = path_sample();
    config.l2_outstanding = 2;
    config.l2_streamer = 1;
    config.l2_streamer_wakes = 1;
    PrivateCaches caches(config, kClock);
    caches.load(200, 0, 0, true);
    caches.load(64, 0, 0, true);
    caches.load(65, 0, 0, true);  // has to wait
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{200, 64}));
    caches.deliver(200, 29);
    caches.deliver(64, 29);
    pass(caches, 0, 30);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{65, 66}));
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
