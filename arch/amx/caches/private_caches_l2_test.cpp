#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "arch/amx/caches/private_caches.hpp"
#include "arch/amx/caches/private_caches_testing.hpp"

namespace tilesim::arch::amx::caches {
namespace {

// Cycles and waiters of what arrives before `end`.
using Arrivals = std::vector<std::pair<std::int64_t, std::uint32_t>>;
Arrivals arrivals_of(PrivateCaches& caches, std::int64_t end) {
    Arrivals arrivals;
    for (std::int64_t cycle = 0; cycle < end; ++cycle) {
        for (const PrivateCaches::Arrival& each : pass(caches, cycle, cycle + 1)) {
            arrivals.emplace_back(cycle, each.waiter);
        }
    }
    return arrivals;
}

TEST(PrivateCaches, MissesOfTheL2BeyondTheOutstandingOnesWaitForAnAnswer) {
    PrivateCacheConfig config = path_sample();
    config.l2_outstanding = 2;
    PrivateCaches caches(config, kClock);
    for (const Line line : {10, 20, 30}) {  // each with a fill buffer
        EXPECT_EQ(caches.load(line, 3, 0, true), PrivateCaches::Outcome::Waiting);
    }
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10, 20}));
    caches.deliver(10, 29);
    pass(caches, 3, 29);
    EXPECT_TRUE(asked_for(caches).empty());
    pass(caches, 29, 30);
    ASSERT_EQ(caches.outbox().size(), 1U);
    EXPECT_EQ(caches.outbox()[0].cycle, 29);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{30}));
}

// An L2 full of lines 9, 8 and 7, whose victims the L3 answers after 5 cycles.
struct FullL2 : PrivateCaches {
    explicit FullL2(std::int64_t outstanding)
        : PrivateCaches(with_places(outstanding), kClock, base::Femtoseconds{5'000'000}) {
        for (const Line line : {9, 8, 7}) {
            warm(line, Level::L2, false);
        }
    }
    static PrivateCacheConfig with_places(std::int64_t outstanding) {
        PrivateCacheConfig config = tiny_sample();
        config.l2_outstanding = outstanding;
        return config;
    }
};

// Of two places line 1 takes one and what it displaces (line 9) the other, from its coming in cycle
// 10 until the L3 has answered in cycle 15. Another miss takes the first; the next waits.
TEST(PrivateCaches, AVictimOfTheL2KeepsAPlaceForMissesUntilTheL3HasAnswered) {
    FullL2 caches(2);
    caches.load(1, 0, 0, true);
    caches.deliver(1, 10);
    pass(caches, 0, 11);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{1, 9}));
    caches.load(2, 11, 0, true);
    EXPECT_EQ(caches.prefetch(3, false, 11), PrivateCaches::Outcome::NoBuffer);
    caches.load(4, 11, 0, true);
    pass(caches, 11, 15);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{2}));
    const std::uint64_t refused = caches.version();
    EXPECT_EQ(caches.next_event(14), 15);
    pass(caches, 15, 16);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{4}));
    EXPECT_NE(caches.version(), refused);
    EXPECT_EQ(caches.counters().most_misses, 2);
}

// Nothing holds a fill buffer, but a prefetch into the L2 waits for a place.
TEST(PrivateCaches, WhoWaitsForAVictimsPlaceIsWokenThoughNothingElseIsUnderWay) {
    FullL2 caches(1);
    EXPECT_EQ(caches.prefetch(1, false, 0), PrivateCaches::Outcome::Waiting);
    caches.deliver(1, 30);
    pass(caches, 0, 31);
    EXPECT_TRUE(caches.idle());  // nobody waits for the place of line 9
    EXPECT_EQ(caches.prefetch(3, false, 31), PrivateCaches::Outcome::NoBuffer);
    EXPECT_FALSE(caches.idle());
    EXPECT_EQ(caches.next_event(31), 35);
    pass(caches, 31, 36);
    EXPECT_TRUE(caches.idle());
    EXPECT_EQ(caches.prefetch(3, false, 36), PrivateCaches::Outcome::Waiting);
    caches.deliver(3, 60);
    pass(caches, 36, 61);
    EXPECT_TRUE(caches.idle());  // nobody has been refused since
}

TEST(PrivateCaches, AVictimsPlaceIsFreeForWhoAsksOnceTheL3HasAnswered) {
    for (const std::int64_t asked_at : {34, 35}) {
        FullL2 caches(1);
        caches.prefetch(1, false, 0);
        caches.deliver(1, 30);
        pass(caches, 0, 31);  // line 9 leaves, until 35
        EXPECT_EQ(caches.prefetch(3, false, asked_at), asked_at < 35
                                                           ? PrivateCaches::Outcome::NoBuffer
                                                           : PrivateCaches::Outcome::Waiting);
    }
}

// Line 3, which the L1 alone has, goes to the L2 when line 7 takes its place there.
TEST(PrivateCaches, APrefetchThatFoundNoPlaceIsLookedForAgainOnceItsLineIsInTheL2) {
    PrivateCacheConfig config = tiny_sample();
    config.l2_outstanding = 1;
    PrivateCaches caches(config, kClock);
    for (const Line line : {3, 2}) {
        caches.warm(line, Level::L1, line == 3);
    }
    for (const Line line : {5, 6, 7}) {
        caches.warm(line, Level::L2, false);
    }
    caches.prefetch(4, false, 0);
    EXPECT_EQ(caches.prefetch(3, false, 0), PrivateCaches::Outcome::NoBuffer);
    const Refusal refusal = caches.refusal_by_l2(3);
    EXPECT_FALSE(caches.l2_finds_place(0));
    EXPECT_TRUE(caches.none_in_l2(refusal));
    caches.load(7, 1, 0, true);
    pass(caches, 1, 30);
    EXPECT_TRUE(caches.contains_l2(3));
    EXPECT_FALSE(caches.none_in_l2(refusal));
}

TEST(PrivateCaches, WhoeverWaitsForAVictimsPlaceTheNextLineComesWhenItIsReady) {
    FullL2 caches(2);
    caches.load(1, 0, 0, true);
    caches.deliver(1, 30);
    pass(caches, 0, 31);  // line 9 leaves, until 35
    caches.load(2, 31, 0, true);
    EXPECT_EQ(caches.prefetch(3, false, 31), PrivateCaches::Outcome::NoBuffer);
    caches.deliver(2, 33);
    EXPECT_EQ(caches.next_event(31), 33);
    const std::uint64_t refused = caches.version();
    pass(caches, 31, 33);
    EXPECT_EQ(caches.version(), refused);
    EXPECT_EQ(pass(caches, 33, 34).size(), 1U);
}

TEST(PrivateCaches, ALineThatIsComingIsAskedForOnce) {
    PrivateCaches caches(path_sample(), kClock);
    caches.load(10, 0, 1, true);
    caches.load(10, 1, 2, true);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10}));
    caches.deliver(10, 29);
    EXPECT_EQ(pass(caches, 2, 30).size(), 2U);  // for both
    EXPECT_EQ(caches.counters().fills, 1);
}

TEST(PrivateCaches, ADirtyLineThatLeavesTheL1IsWrittenToTheL2) {
    for (const bool written : {false, true}) {
        PrivateCaches caches(tiny_sample(), kClock);
        for (const Line line : {1, 2}) {
            caches.warm(line, Level::L1, false);
        }
        caches.warm(3, Level::L2, false);
        if (written) {
            caches.commit(1);
        }
        caches.load(2, 0, 0, true);  // line 1 was used before it
        caches.load(3, 0, 0, true);
        pass(caches, 0, 20);
        EXPECT_FALSE(caches.contains_l1(1));
        EXPECT_TRUE(caches.contains_l2(1));
        EXPECT_EQ(caches.dirty(1), written);
        EXPECT_TRUE(caches.outbox().empty());
    }
}

TEST(PrivateCaches, WhatLeavesTheL2GoesToTheUncoreCleanOrDirty) {
    for (const bool dirty : {false, true}) {
        PrivateCaches caches(tiny_sample(), kClock);
        caches.warm(1, Level::L2, dirty);
        caches.warm(2, Level::L2, false);
        caches.warm(3, Level::L2, false);
        caches.load(4, 0, 0, true);
        caches.outbox().clear();
        caches.deliver(4, 29);
        pass(caches, 0, 29);
        EXPECT_TRUE(caches.outbox().empty());
        pass(caches, 29, 30);
        ASSERT_EQ(caches.outbox().size(), 1U);
        EXPECT_EQ(caches.outbox()[0].line, 1);
        EXPECT_EQ(caches.outbox()[0].cycle, 29);
        EXPECT_EQ(caches.outbox()[0].kind,
                  dirty ? UncoreRequest::Kind::DirtyVictim : UncoreRequest::Kind::CleanVictim);
    }
}

TEST(PrivateCaches, ADirtyLineOfTheL1AloneDisplacesOneOfTheL2) {
    PrivateCaches caches(tiny_sample(), kClock);
    caches.warm(9, Level::L1, false);
    for (const Line line : {1, 2, 3}) {
        caches.warm(line, Level::L2, false);
    }
    caches.outbox().clear();  // line 9 has left the L2
    ASSERT_FALSE(caches.contains_l2(9));
    caches.commit(9);
    caches.load(2, 0, 0, true);
    caches.load(3, 0, 0, true);
    pass(caches, 0, 20);
    EXPECT_FALSE(caches.contains_l1(9));
    EXPECT_TRUE(caches.contains_l2(9));
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{1}));
}

TEST(PrivateCaches, ALineWrittenBackHoldsAFillBufferUntilTheL2sPipelineHasTakenIt) {
    PrivateCacheConfig config = path_sample();
    config.fill_width = base::BytesPerCycle{64};  // a line a cycle
    config.read_percent = 100;
    config.write_percent = 300;
    config.fill_buffers = 2;
    // When the buffers of two lines written back, `written` and 4, are free again.
    const auto free_at = [&config](Line written) {
        config.l1 = {base::Bytes{2 * kLineBytes}, 2};
        PrivateCaches caches(config, kClock);
        for (const Line line : {written, Line{4}}) {
            caches.warm(line, Level::L1, true);
        }
        for (const Line line : {11, 12}) {
            caches.warm(line, Level::L2, false);
            caches.load(line, 0, 0, true);
        }
        EXPECT_EQ(pass(caches, 0, 18).size(), 1U);
        EXPECT_EQ(pass(caches, 18, 19).size(), 1U);  // a fill passes what is written back
        std::vector<std::int64_t> result;
        for (std::int64_t cycle = 19; cycle < 60; ++cycle) {
            pass(caches, cycle, cycle + 1);
            if (caches.load(100 + cycle, cycle, 0, true) == PrivateCaches::Outcome::Waiting) {
                result.push_back(cycle);
            }
        }
        return result;
    };
    // From 17 a cycle for the fill and three for the line, then as long once more; and two cycles
    // until the buffer is free.
    EXPECT_EQ(free_at(3), (std::vector<std::int64_t>{21 + 2, 25 + 2}));
    config.write_half_percent = 200;
    EXPECT_EQ(free_at(3), (std::vector<std::int64_t>{21 + 2, 25 + 2}));  // 3, then 4: other halves
    EXPECT_EQ(free_at(2), (std::vector<std::int64_t>{23 + 2, 29 + 2}));  // 2 after none, then 4
}

PrivateCacheConfig with_quarters(PrivateCacheConfig config) {
    config.fill_width = base::BytesPerCycle{64};
    config.quarter_percent = 600;
    return config;
}

TEST(PrivateCaches, AMissLookedUpKeepsLinesOfItsQuarterInTheL2AndLetsOthersPass) {
    PrivateCaches caches(with_quarters(path_sample()), kClock);
    caches.warm(104, Level::L2, false);
    caches.warm(101, Level::L2, false);
    caches.load(104, 0, 7, true);
    caches.load(101, 0, 8, true);
    caches.load(200, 15, 9, true);
    const auto at_17 = pass(caches, 0, 18);
    ASSERT_EQ(at_17.size(), 1U);
    EXPECT_EQ(at_17[0].waiter, 8U);
    EXPECT_TRUE(pass(caches, 18, 15 + 6).empty());
    EXPECT_EQ(pass(caches, 15 + 6, 15 + 7).size(), 1U);
}

TEST(PrivateCaches, AMissTakesItsQuarterWhenItComesWhenItLeavesAndThatOfWhatItDisplaces) {
    const auto hit_at = [](Line displaced) {
        PrivateCaches caches(with_quarters(tiny_sample()), kClock);
        for (const Line line : {displaced, Line{104}, Line{12}}) {
            caches.warm(line, Level::L2, false);
        }
        caches.load(200, 0, 0, true);
        caches.deliver(200, 29);
        caches.load(104, 13, 1, true);  // ready at 30
        std::int64_t cycle = 30;
        EXPECT_EQ(pass(caches, 0, 30).size(), 1U);
        while (pass(caches, cycle, cycle + 1).empty()) {
            ++cycle;
        }
        return cycle;
    };
    EXPECT_EQ(hit_at(9), 29 + 2 * 6);
    EXPECT_EQ(hit_at(8), 29 + 3 * 6);
}

TEST(PrivateCaches, ALineThatComesWaitsForItsQuarter) {
    const PrivateCacheConfig config = with_quarters(path_sample());
    for (const auto& [second, when] : {std::pair{Line{201}, 30}, std::pair{Line{204}, 29 + 6}}) {
        PrivateCaches caches(config, kClock);
        caches.load(200, 0, 0, true);
        caches.load(second, 0, 1, true);
        caches.deliver(200, 29);
        caches.deliver(second, 29);
        const auto first = pass(caches, 20, 30);
        ASSERT_EQ(first.size(), 1U);
        EXPECT_EQ(first[0].waiter, 0U) << "the one announced first";
        EXPECT_TRUE(pass(caches, 30, when).empty());
        EXPECT_EQ(pass(caches, when, when + 1).size(), 1U);
    }
}

TEST(PrivateCaches, LinesFromTheUncoreComeInTheirCyclesInWhateverOrderTheyAreAnnounced) {
    PrivateCaches caches(path_sample(), kClock);
    for (const Line line : {10, 20, 31}) {
        caches.load(line, 0, static_cast<std::uint32_t>(line), true);
    }
    caches.deliver(10, 37);
    caches.deliver(20, 29);
    caches.deliver(31, 33);
    EXPECT_EQ(arrivals_of(caches, 40), (Arrivals{{29, 20}, {33, 31}, {37, 10}}));
}

TEST(PrivateCaches, ALineFromTheUncoreGoesBehindThoseThatWereReadyBefore) {
    PrivateCacheConfig config = path_sample();
    config.fill_width = base::BytesPerCycle{16};  // a line takes four cycles
    PrivateCaches caches(config, kClock);
    caches.warm(1, Level::L2, false);
    caches.warm(2, Level::L2, false);
    caches.load(1, 0, 1, true);
    caches.load(103, 0, 3, true);
    caches.load(2, 1, 2, true);
    caches.deliver(103, 20);
    EXPECT_EQ(arrivals_of(caches, 40), (Arrivals{{17, 1}, {21, 2}, {25, 3}}));
}

TEST(PrivateCaches, ALineOnItsWayIntoTheL2IsAskedForOnce) {
    PrivateCaches caches(path_sample(), kClock);
    caches.prefetch(10, false, 0);
    caches.load(10, 1, 7, true);
    EXPECT_EQ(asked_for(caches), (std::vector<Line>{10}));
    caches.deliver(10, 29);
    const auto here = pass(caches, 1, 30);
    ASSERT_EQ(here.size(), 1U);
    EXPECT_EQ(here[0].waiter, 7U);
}

TEST(PrivateCaches, AMissWithoutRoomInTheL2IsAskedForBeforeYoungerOnes) {
    PrivateCacheConfig config = path_sample();
    config.fill_buffers = 3;
    config.l2_outstanding = 1;
    PrivateCaches caches(config, kClock);
    for (Line line = 10; line < 13; ++line) {
        caches.load(line, 0, 0, true);
    }
    // 10 gives its buffer to 13, which is younger than 12 behind it.
    for (Line line = 10; line < 13; ++line) {
        const std::int64_t now = 29 * (line - 9);
        EXPECT_EQ(asked_for(caches), (std::vector<Line>{line}));
        caches.deliver(line, now);
        EXPECT_EQ(pass(caches, now, now + 2).size(), 1U);
        EXPECT_EQ(caches.load(line + 3, now + 2, 0, true), PrivateCaches::Outcome::Waiting);
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
