// What the rest of a core asks the caches to know when it goes on.
#include <gtest/gtest.h>

#include "arch/amx/caches/private_caches.hpp"
#include "arch/amx/caches/private_caches_testing.hpp"

namespace tilesim::arch::amx::caches {
namespace {

TEST(PrivateCaches, TheNextEventIsTheFirstOfWhatIsReadyOverOrDelivered) {
    PrivateCacheConfig config = path_sample();
    config.fill_width = base::BytesPerCycle{16};  // a line takes four cycles
    PrivateCaches caches(config, kClock);
    for (const Line line : {0, 1, 2}) {
        caches.warm(line, Level::L2, false);
    }
    EXPECT_EQ(caches.next_event(0), kUnknownCycle);
    caches.load(0, 0, 0, true);
    caches.load(1, 0, 1, true);
    EXPECT_EQ(pass(caches, 0, 18).size(), 1U);
    EXPECT_EQ(caches.next_event(17), 17 + 4);
    caches.prefetch(2, false, 0);  // answered at 17, over two cycles later
    EXPECT_EQ(caches.next_event(17), 17 + 2);
    caches.load(100, 17, 2, true);
    caches.deliver(100, 18);
    EXPECT_EQ(caches.next_event(17), 18);
    EXPECT_EQ(caches.next_event(18), 19) << "never the cycle that is over";
}

TEST(PrivateCaches, WhatDidNotFitBeforeTheStartHoldsNoPlaceForMisses) {
    PrivateCacheConfig config = tiny_sample();
    config.l2_outstanding = 1;
    PrivateCaches caches(config, kClock, base::Femtoseconds{5'000'000});
    for (const Line line : {8, 16, 24, 32}) {  // 8 leaves
        caches.warm(line, Level::L2, false);
    }
    caches.outbox().clear();
    caches.load(40, 0, 0, true);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{40}));
}

TEST(PrivateCaches, HaveWorkToDoWhileALineIsOnItsWayIntoTheL1OrTheL2Alone) {
    PrivateCaches caches(path_sample(), kClock);
    EXPECT_TRUE(caches.idle());
    caches.warm(1, Level::L2, false);
    caches.load(1, 0, 0, true);
    EXPECT_FALSE(caches.idle());
    pass(caches, 0, 18);
    EXPECT_TRUE(caches.idle());
    caches.prefetch(10, false, 20);
    pass(caches, 20, 20 + 17 + 3);  // no fill buffer holds it any more
    EXPECT_TRUE(caches.idle());
    caches.deliver(10, 59);
    EXPECT_FALSE(caches.idle());
    pass(caches, 59, 60);
    EXPECT_TRUE(caches.idle());
}

TEST(PrivateCaches, SayWhichLineHasEnteredTheL1AndWhichIsThereNoLonger) {
    PrivateCaches caches(tiny_sample(), kClock);
    for (const Line line : {1, 2}) {
        caches.warm(line, Level::L1, false);
    }
    caches.warm(3, Level::L2, false);
    caches.load(3, 0, 0, true);
    pass(caches, 0, 18);
    EXPECT_EQ(caches.latest_fill().came, 3);
    EXPECT_EQ(caches.latest_fill().left, 1);
    caches.load(1, 18, 0, false);  // past the L1
    pass(caches, 18, 40);
    EXPECT_EQ(caches.latest_fill().came, Cache::kNone);
    EXPECT_EQ(caches.latest_fill().left, 1);
    const std::uint64_t before = caches.given_up();
    caches.give_up(2);
    EXPECT_EQ(caches.given_up(), before + 1);
}

TEST(PrivateCaches, ALineOnItsWayComesFromWhereTheUncoreHasFoundIt) {
    PrivateCaches caches(path_sample(), kClock);
    caches.load(10, 0, 0, true);
    EXPECT_EQ(caches.level_of(10), Level::L3);
    caches.located(10, Level::Memory);
    EXPECT_EQ(caches.level_of(10), Level::Memory);
    caches.located(11, Level::Memory);  // nobody waits for it
    EXPECT_EQ(caches.level_of(11), Level::L1);
}

TEST(PrivateCaches, ARunOfHitsEndsAtALineThatIsNotThereAndIsCounted) {
    PrivateCaches caches(path_sample(), kClock);
    for (const Line line : {10, 11, 13}) {
        caches.warm(line, Level::L1, false);
    }
    EXPECT_EQ(caches.load_hits(4, [](std::int64_t i) { return 10 + i; }), 2);
    EXPECT_EQ(caches.counters().l1_hits, 2);
    EXPECT_EQ(caches.counters().l1_misses, 0);
}

// What was refused goes on without a look where a buffer is free and none was taken for its line.
TEST(PrivateCaches, ALoadThatWasRefusedAsksWhereABufferIsFreeAndNoneWasTakenForItsLine) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 1;
    PrivateCaches caches(config, kClock);
    caches.warm(1, Level::L2, false);
    caches.load(1, 0, 0, true);
    EXPECT_EQ(caches.load(10, 0, 7, true), PrivateCaches::Outcome::NoBuffer);
    const Refusal refusal = caches.refusal(10);
    EXPECT_TRUE(caches.refuses_again(refusal));
    EXPECT_FALSE(caches.load_refused(refusal, 10, 16, 7, true));
    pass(caches, 0, 18);
    EXPECT_FALSE(caches.refuses_again(refusal));
    EXPECT_TRUE(caches.load_refused(refusal, 10, 18, 7, true));
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10}));
    caches.deliver(10, 29);
    EXPECT_EQ(pass(caches, 18, 30).size(), 1U);
    EXPECT_FALSE(caches.load_refused(refusal, 10, 30, 7, true));  // it is there by now
    EXPECT_TRUE(asked_for(caches).empty());
}

TEST(PrivateCaches, AreQuietWhileNothingIsOnItsWayToTheUncoreOrBack) {
    PrivateCaches caches(path_sample(), kClock);
    EXPECT_TRUE(caches.quiet());
    caches.load(10, 0, 0, true);
    EXPECT_FALSE(caches.quiet());
    caches.outbox().clear();
    EXPECT_FALSE(caches.quiet());
    caches.deliver(10, 29);
    EXPECT_FALSE(caches.quiet());
    pass(caches, 0, 30);
    EXPECT_TRUE(caches.quiet());
    caches.stream(20, 30);  // nobody answers it
    EXPECT_FALSE(caches.quiet());
    caches.outbox().clear();
    EXPECT_TRUE(caches.quiet());
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
