#include "arch/amx/caches/private_caches.hpp"

#include <gtest/gtest.h>

#include "arch/amx/caches/private_caches_testing.hpp"

namespace tilesim::arch::amx::caches {
namespace {

// The cycle in which each of `lines`, all in the L2 and asked for at 0, arrives.
std::vector<std::int64_t> arrivals(const PrivateCacheConfig& config,
                                   const std::vector<Line>& lines) {
    PrivateCaches caches(config, kClock);
    for (const Line line : lines) {
        caches.warm(line, Level::L2, false);
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(caches.load(lines[i], 0, static_cast<std::uint32_t>(i), true),
                  PrivateCaches::Outcome::Waiting);
    }
    std::vector<std::int64_t> result(lines.size(), -1);
    std::vector<PrivateCaches::Arrival> here;
    for (std::int64_t cycle = 0; cycle < 1000; ++cycle) {
        here.clear();
        caches.advance(cycle, here);
        for (const PrivateCaches::Arrival& arrival : here) {
            result[arrival.waiter] = cycle;
        }
    }
    return result;
}

TEST(PrivateCaches, TheL2SendsThreeLinesEveryFourCycles) {
    EXPECT_EQ(arrivals(path_sample(), {0, 1, 2, 3, 4, 5}),
              (std::vector<std::int64_t>{17, 18, 19, 21, 22, 23}));
}

TEST(PrivateCaches, ALineKeepsItsHalfBusyWhileTheOtherGivesItsOwn) {
    PrivateCacheConfig config = path_sample();
    config.fill_width = base::BytesPerCycle{64};
    config.half_percent = 300;
    EXPECT_EQ(arrivals(config, {0, 2, 4}), (std::vector<std::int64_t>{17, 20, 23}));
    EXPECT_EQ(arrivals(config, {0, 1, 2, 3}), (std::vector<std::int64_t>{17, 18, 20, 21}));
    config.half_percent = 150;  // from 17, 18.5, 20 and 21.5 on
    EXPECT_EQ(arrivals(config, {0, 2, 4, 6}), (std::vector<std::int64_t>{17, 18, 20, 21}));
    // 2 has the path from 18.5 on, 1 from 19.5; so 3 comes from 21 on.
    EXPECT_EQ(arrivals(config, {0, 2, 1, 3}), (std::vector<std::int64_t>{17, 18, 19, 21}));
}

TEST(PrivateCaches, ALineKeepsItsQuarterBusyWhileOthersPass) {
    PrivateCacheConfig config = path_sample();
    config.fill_width = base::BytesPerCycle{64};
    config.quarter_percent = 500;
    EXPECT_EQ(arrivals(config, {0, 4, 8}), (std::vector<std::int64_t>{17, 22, 27}));
    EXPECT_EQ(arrivals(config, {0, 2, 4, 6}), (std::vector<std::int64_t>{17, 18, 22, 23}));
    EXPECT_EQ(arrivals(config, {0, 1, 2, 3}), (std::vector<std::int64_t>{17, 18, 19, 20}));
    EXPECT_EQ(arrivals(config, {0, 4, 1}), (std::vector<std::int64_t>{17, 22, 18}));
    config.half_percent = 200;
    EXPECT_EQ(arrivals(config, {0, 2, 4}), (std::vector<std::int64_t>{17, 19, 22}));
}

// Of five cycles a line each; a line comes while no more than eight are left.
TEST(PrivateCaches, AHalfOrQuarterGivesLinesWhileItsBacklogIsShort) {
    PrivateCacheConfig half = path_sample();
    half.fill_width = base::BytesPerCycle{64};
    PrivateCacheConfig quarter = half;
    half.half_percent = 500;
    half.half_backlog = base::Cycles{8};
    quarter.quarter_percent = 500;
    quarter.quarter_backlog = base::Cycles{8};
    const std::vector<std::int64_t> expected{17, 18, 19, 24, 29};
    EXPECT_EQ(arrivals(half, {0, 2, 4, 6, 8}), expected);
    EXPECT_EQ(arrivals(quarter, {0, 4, 8, 12, 16}), expected);
    EXPECT_EQ(arrivals(quarter, {0, 4, 8, 1, 12, 5}),
              (std::vector<std::int64_t>{17, 18, 19, 20, 24, 21}));
}

TEST(PrivateCaches, AQuarterCatchesUpWhileNothingIsAskedOfIt) {
    PrivateCacheConfig config = path_sample();
    config.fill_width = base::BytesPerCycle{64};
    config.quarter_percent = 500;
    config.quarter_backlog = base::Cycles{8};
    PrivateCaches caches(config, kClock);
    for (Line line = 0; line < 40; line += 4) {
        caches.warm(line, Level::L2, false);
    }
    for (Line line = 0; line < 20; line += 4) {
        caches.load(line, 0, 0, true);
    }
    EXPECT_EQ(pass(caches, 0, 30).size(), 5U);
    for (Line line = 20; line < 40; line += 4) {
        caches.load(line, 30, 0, true);  // 34 it is done, 47 the first is ready
    }
    EXPECT_TRUE(pass(caches, 30, 47).empty());
    EXPECT_EQ(pass(caches, 47, 50).size(), 3U);
    EXPECT_TRUE(pass(caches, 50, 54).empty());
    EXPECT_EQ(pass(caches, 54, 55).size(), 1U);
}

TEST(PrivateCaches, FillBuffersLimitTheMisses) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 3;
    PrivateCaches caches(config, kClock);
    for (Line line = 0; line < 3; ++line) {
        EXPECT_EQ(caches.load(line, 0, 0, true), PrivateCaches::Outcome::Waiting);
    }
    EXPECT_EQ(caches.load(3, 0, 0, true), PrivateCaches::Outcome::NoBuffer);
    EXPECT_EQ(caches.load(2, 0, 0, true), PrivateCaches::Outcome::Waiting);  // joins
    EXPECT_EQ(caches.outbox().size(), 3U);
    caches.deliver(1, 29);
    std::vector<PrivateCaches::Arrival> here;
    caches.advance(28, here);
    EXPECT_TRUE(here.empty());
    caches.advance(29, here);
    EXPECT_EQ(here.size(), 1U);
    EXPECT_EQ(caches.load(3, 29, 0, true), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(caches.load(1, 29, 0, true), PrivateCaches::Outcome::Hit);
}

TEST(PrivateCaches, ANontemporalLineDoesNotStay) {
    PrivateCaches caches(path_sample(), kClock);
    caches.warm(5, Level::L2, false);
    caches.load(5, 0, 0, false);
    std::vector<PrivateCaches::Arrival> here;
    caches.advance(17, here);
    EXPECT_EQ(here.size(), 1U);
    EXPECT_FALSE(caches.contains_l1(5));
}

TEST(PrivateCaches, ALineArrivesTheLatencyOfTheL2AfterItIsAskedFor) {
    PrivateCaches caches(path_sample(), kClock);
    caches.warm(5, Level::L2, false);
    EXPECT_EQ(caches.load(5, 100, 23, true), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(caches.level_of(5), Level::L2);
    EXPECT_EQ(caches.next_event(100), 117);
    EXPECT_TRUE(pass(caches, 100, 117).empty());
    const auto here = pass(caches, 117, 118);
    ASSERT_EQ(here.size(), 1U);
    EXPECT_EQ(here[0].waiter, 23U);
    EXPECT_EQ(here[0].level, Level::L2);
    EXPECT_EQ(caches.load(5, 118, 0, true), PrivateCaches::Outcome::Hit);
    EXPECT_TRUE(caches.outbox().empty());
}

TEST(PrivateCaches, AStoreOwnsItsLineBeforeItWrites) {
    PrivateCaches caches(path_sample(), kClock);
    EXPECT_FALSE(caches.commit(7));
    EXPECT_EQ(caches.own(7, 5), PrivateCaches::Outcome::Waiting);
    ASSERT_EQ(caches.outbox().size(), 1U);
    EXPECT_EQ(caches.outbox()[0].kind, UncoreRequest::Kind::Own);
    EXPECT_EQ(caches.outbox()[0].cycle, 5);
    EXPECT_FALSE(caches.commit(7));
    caches.deliver(7, 29);
    pass(caches, 5, 30);
    EXPECT_FALSE(caches.dirty(7));
    EXPECT_TRUE(caches.commit(7));
    EXPECT_TRUE(caches.dirty(7));
    EXPECT_EQ(caches.own(7, 31), PrivateCaches::Outcome::Hit);
}

TEST(PrivateCaches, ALineANontemporalLoadSharesWithAnotherStays) {
    for (const bool first : {false, true}) {
        PrivateCaches caches(path_sample(), kClock);
        caches.warm(5, Level::L2, false);
        caches.load(5, 0, 0, first);
        caches.load(5, 1, 0, !first);
        pass(caches, 0, 18);
        EXPECT_TRUE(caches.contains_l1(5));
    }
}

TEST(PrivateCaches, AStorePastTheCachesHoldsAFillBufferSoLongAndLeavesNoLine) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 3;
    config.streaming_stores = 2;
    config.streaming_store = base::Femtoseconds{23'000'000};  // 23 cycles
    PrivateCaches caches(config, kClock);
    caches.warm(7, Level::L1, true);
    EXPECT_EQ(caches.stream(7, 5), PrivateCaches::Outcome::Waiting);
    EXPECT_FALSE(caches.has_or_awaits(7));
    ASSERT_EQ(caches.outbox().size(), 1U);
    EXPECT_EQ(caches.outbox()[0].kind, UncoreRequest::Kind::Stream);
    EXPECT_EQ(caches.stream(8, 5), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(caches.stream(9, 5), PrivateCaches::Outcome::NoBuffer);  // two of them at a time
    EXPECT_EQ(caches.load(20, 5, 0, true), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(caches.load(21, 5, 0, true), PrivateCaches::Outcome::NoBuffer);
    EXPECT_EQ(caches.next_event(5), 5 + 23);
    pass(caches, 5, 5 + 23);
    EXPECT_EQ(caches.stream(9, 27), PrivateCaches::Outcome::NoBuffer);
    pass(caches, 28, 29);
    EXPECT_EQ(caches.stream(9, 28), PrivateCaches::Outcome::Waiting);
}

TEST(PrivateCaches, AnotherCoreTakesALineFromBothCaches) {
    PrivateCaches caches(path_sample(), kClock);
    caches.warm(1, Level::L1, false);
    caches.warm(2, Level::L2, true);
    caches.give_up(1);
    caches.give_up(2);
    EXPECT_FALSE(caches.has_or_awaits(1));
    EXPECT_FALSE(caches.has_or_awaits(2));
    caches.load(3, 0, 0, true);
    EXPECT_TRUE(caches.has_or_awaits(3));
}

TEST(PrivateCaches, AnotherCoreFindsALineInEitherCache) {
    PrivateCaches caches(tiny_sample(), kClock);
    caches.warm(9, Level::L1, false);
    for (const Line line : {1, 2, 3}) {
        caches.warm(line, Level::L2, false);
    }
    ASSERT_FALSE(caches.contains_l2(9));
    EXPECT_TRUE(caches.has_or_awaits(9));  // in the L1 alone
    EXPECT_TRUE(caches.has_or_awaits(1));  // in the L2 alone
}

TEST(PrivateCaches, ALineThatAnotherCoreHasReadIsCleanInBothCaches) {
    PrivateCaches caches(path_sample(), kClock);
    caches.warm(1, Level::L1, true);
    caches.warm(2, Level::L1, false);
    caches.warm(3, Level::L2, true);
    caches.commit(2);  // dirty in the L1 alone
    for (const Line line : {1, 2, 3}) {
        EXPECT_TRUE(caches.dirty(line));
        caches.clean(line);
        EXPECT_FALSE(caches.dirty(line));
        EXPECT_TRUE(caches.contains_l2(line));
    }
}

TEST(PrivateCaches, ALineUnderWayTakesNoSecondFillBuffer) {
    PrivateCacheConfig config = path_sample();
    config.l1_next_line = true;
    config.fill_buffers = 4;
    PrivateCaches caches(config, kClock);
    caches.load(11, 0, 0, true);  // and 12
    caches.load(10, 0, 0, true);  // 11 is the line after it
    EXPECT_EQ(caches.load(50, 0, 0, true), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{11, 12, 10, 50}));
}

TEST(PrivateCaches, AStoreThatAsksForItsLineNeedsAFillBuffer) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 1;
    PrivateCaches caches(config, kClock);
    caches.load(10, 0, 0, true);
    EXPECT_EQ(caches.own(20, 0), PrivateCaches::Outcome::NoBuffer);
    EXPECT_EQ(caches.own(10, 0), PrivateCaches::Outcome::Waiting);  // its line has one
    EXPECT_EQ(caches.counters().ownerships, 1);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10}));
}

TEST(PrivateCaches, AFillLetsWhoWasRefusedAskAgain) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 1;
    PrivateCaches caches(config, kClock);
    caches.warm(5, Level::L2, false);
    caches.load(5, 0, 0, true);
    const std::uint64_t refused = caches.version();
    pass(caches, 0, 17);
    EXPECT_EQ(caches.version(), refused);
    pass(caches, 17, 18);
    EXPECT_NE(caches.version(), refused);
}

// What the last line of a fill buffer was for is not what the next is for.
TEST(PrivateCaches, AFillBufferIsTakenAnew) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 1;
    PrivateCaches caches(config, kClock);
    for (const Line line : {5, 6, 7}) {
        caches.warm(line, Level::L2, false);
    }
    caches.load(90, 0, 0, true);
    caches.deliver(90, 3);
    EXPECT_EQ(pass(caches, 0, 4).front().level, Level::L3);
    caches.load(5, 4, 0, true);
    caches.load(5, 4, 1, true);
    const auto here = pass(caches, 4, 4 + 18);
    ASSERT_EQ(here.size(), 2U);
    EXPECT_EQ(here[0].level, Level::L2);
    caches.prefetch(6, true, 22);  // nobody waits for it
    EXPECT_TRUE(pass(caches, 22, 40).empty());
    EXPECT_TRUE(caches.contains_l1(6));
    caches.load(7, 40, 0, false);
    EXPECT_EQ(pass(caches, 40, 58).size(), 1U);
    EXPECT_FALSE(caches.contains_l1(7));
}

TEST(PrivateCaches, AStorePastTheCachesNeedsAFillBuffer) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 1;
    config.streaming_stores = 2;
    PrivateCaches caches(config, kClock);
    caches.load(10, 0, 0, true);
    EXPECT_EQ(caches.stream(20, 0), PrivateCaches::Outcome::NoBuffer);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10}));
}

TEST(PrivateCaches, OnlyTheirOwnEndMakesRoomForStoresPastTheCaches) {
    PrivateCacheConfig config = path_sample();
    config.streaming_stores = 1;
    config.streaming_store = base::Femtoseconds{23'000'000};  // 23 cycles
    PrivateCaches caches(config, kClock);
    using Outcome = PrivateCaches::Outcome;
    EXPECT_EQ(caches.stream(7, 5), Outcome::Waiting);
    caches.prefetch(2, false, 5);  // until 5 + 17 + 2
    pass(caches, 5, 25);
    EXPECT_EQ(caches.stream(8, 25), Outcome::NoBuffer);
    pass(caches, 25, 29);
    caches.prefetch(3, false, 30);  // in the buffer that the store has left
    pass(caches, 30, 50);
    EXPECT_EQ(caches.stream(8, 50), Outcome::Waiting);
    EXPECT_EQ(caches.stream(9, 50), Outcome::NoBuffer);
}

TEST(PrivateCaches, WhatLiesThereBeforeTheStartHasTakenNoTime) {
    PrivateCacheConfig config = tiny_sample();
    config.half_percent = 200;
    config.quarter_percent = 3000;
    PrivateCaches caches(config, kClock);
    for (const Line line : {8, 16, 24, 32}) {  // 8 leaves
        caches.warm(line, Level::L2, false);
    }
    caches.load(32, 0, 0, true);
    EXPECT_TRUE(pass(caches, 0, 17).empty());
    EXPECT_EQ(pass(caches, 17, 18).size(), 1U);
}

TEST(PrivateCaches, CountsWhatItDoes) {
    PrivateCaches caches(tiny_sample(), kClock);
    caches.warm(1, Level::L1, true);
    caches.warm(2, Level::L1, false);
    caches.warm(3, Level::L2, false);
    caches.load(2, 0, 0, true);  // there
    caches.load(3, 0, 0, true);  // in the L2
    caches.load(3, 0, 1, true);  // under way
    caches.load(60, 0, 2, true);
    caches.own(40, 0);
    caches.own(2, 0);  // there
    caches.stream(50, 0);
    pass(caches, 0, 20);  // line 3 drives line 1 out
    caches.deliver(40, 29);
    caches.deliver(60, 29);
    pass(caches, 20, 30);
    caches.load(70, 30, 3, true);
    const CacheCounters& counters = caches.counters();
    EXPECT_EQ(counters.l1_hits, 1);
    EXPECT_EQ(counters.l1_misses, 4);  // 3 twice, 60, 70
    EXPECT_EQ(counters.l2_hits, 1);
    EXPECT_EQ(counters.l2_misses, 3);  // 60, 40, 70
    EXPECT_EQ(counters.ownerships, 1);
    EXPECT_EQ(counters.streams, 1);
    EXPECT_EQ(counters.write_backs, 1);
    EXPECT_EQ(counters.most_misses, 2);
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
