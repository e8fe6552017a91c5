#include "arch/amx/caches/private_caches.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

constexpr base::Hertz kClock{1'000'000'000};

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

PrivateCacheConfig sample() {
    PrivateCacheConfig config;
    config.l2_latency = base::Cycles{17};
    config.same_half_percent = 0;
    return config;
}

TEST(PrivateCaches, TheL2SendsThreeLinesEveryFourCycles) {
    EXPECT_EQ(arrivals(sample(), {0, 1, 2, 3, 4, 5}),
              (std::vector<std::int64_t>{17, 18, 19, 21, 22, 23}));
}

TEST(PrivateCaches, LinesOfTheSameHalfCostMore) {
    PrivateCacheConfig config = sample();
    config.same_half_percent = 50;
    // 4/3 and a half cycle each: starts at 17, 18.83, 20.67, 22.5.
    EXPECT_EQ(arrivals(config, {0, 2, 4, 6}), (std::vector<std::int64_t>{17, 18, 20, 22}));
    EXPECT_EQ(arrivals(config, {0, 1, 2, 3}), (std::vector<std::int64_t>{17, 18, 19, 21}));
}

TEST(PrivateCaches, FillBuffersLimitTheMisses) {
    PrivateCacheConfig config = sample();
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
    PrivateCaches caches(sample(), kClock);
    caches.warm(5, Level::L2, false);
    caches.load(5, 0, 0, false);
    std::vector<PrivateCaches::Arrival> here;
    caches.advance(17, here);
    EXPECT_EQ(here.size(), 1U);
    EXPECT_FALSE(caches.contains_l1(5));
}

std::vector<Line> asked(PrivateCaches& caches) {
    std::vector<Line> lines;
    for (const UncoreRequest& request : caches.outbox()) {
        lines.push_back(request.line);
    }
    caches.outbox().clear();
    return lines;
}

// All that arrives in [from, to).
std::vector<PrivateCaches::Arrival> pass(PrivateCaches& caches, std::int64_t from,
                                         std::int64_t to) {
    std::vector<PrivateCaches::Arrival> here;
    for (std::int64_t cycle = from; cycle < to; ++cycle) {
        caches.advance(cycle, here);
    }
    return here;
}

TEST(PrivateCaches, ALineArrivesTheLatencyOfTheL2AfterItIsAskedFor) {
    PrivateCaches caches(sample(), kClock);
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

TEST(PrivateCaches, TheSameHalfCostsNothingAfterACycleWithoutAFill) {
    PrivateCacheConfig config = sample();
    config.same_half_percent = 400;
    const auto second = [&](std::int64_t asked_at) {
        PrivateCaches caches(config, kClock);
        caches.warm(2, Level::L2, false);
        caches.warm(4, Level::L2, false);
        caches.load(2, 0, 0, true);
        caches.load(4, asked_at, 1, true);
        std::int64_t cycle = 18;
        pass(caches, 0, 18);
        while (pass(caches, cycle, cycle + 1).empty()) {
            ++cycle;
        }
        return cycle;
    };
    // The path is taken from 17 to 18 1/3, and lost for four cycles more.
    EXPECT_EQ(second(1), 22);
    EXPECT_EQ(second(2), 22);
    EXPECT_EQ(second(3), 17 + 3);
    EXPECT_EQ(second(4), 17 + 4);
}

TEST(PrivateCaches, MissesOfTheL2BeyondTheOutstandingOnesWaitForAnAnswer) {
    PrivateCacheConfig config = sample();
    config.l2_outstanding = 2;
    PrivateCaches caches(config, kClock);
    for (const Line line : {10, 20, 30}) {  // each with a fill buffer
        EXPECT_EQ(caches.load(line, 3, 0, true), PrivateCaches::Outcome::Waiting);
    }
    EXPECT_EQ(asked(caches), (std::vector<Line>{10, 20}));
    caches.deliver(10, 29);
    pass(caches, 3, 29);
    EXPECT_TRUE(asked(caches).empty());
    pass(caches, 29, 30);
    ASSERT_EQ(caches.outbox().size(), 1U);
    EXPECT_EQ(caches.outbox()[0].cycle, 29);
    EXPECT_EQ(asked(caches), (std::vector<Line>{30}));
}

TEST(PrivateCaches, ALineThatIsComingIsAskedForOnce) {
    PrivateCaches caches(sample(), kClock);
    caches.load(10, 0, 1, true);
    caches.load(10, 1, 2, true);
    EXPECT_EQ(asked(caches), (std::vector<Line>{10}));
    caches.deliver(10, 29);
    EXPECT_EQ(pass(caches, 2, 30).size(), 2U);  // for both
    EXPECT_EQ(caches.counters().fills, 1);
}

TEST(PrivateCaches, AStoreOwnsItsLineBeforeItWrites) {
    PrivateCaches caches(sample(), kClock);
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

// One set each: an L1 of 2 lines, an L2 of 3.
PrivateCacheConfig tiny() {
    PrivateCacheConfig config = sample();
    config.l1 = {base::Bytes{2 * kLineBytes}, 2};
    config.l2 = {base::Bytes{3 * kLineBytes}, 3};
    return config;
}

TEST(PrivateCaches, ADirtyLineThatLeavesTheL1IsWrittenToTheL2) {
    for (const bool written : {false, true}) {
        PrivateCaches caches(tiny(), kClock);
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
        PrivateCaches caches(tiny(), kClock);
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
    PrivateCaches caches(tiny(), kClock);
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
    EXPECT_EQ(asked(caches), (std::vector<Line>{1}));
}

TEST(PrivateCaches, ALineANontemporalLoadSharesWithAnotherStays) {
    for (const bool first : {false, true}) {
        PrivateCaches caches(sample(), kClock);
        caches.warm(5, Level::L2, false);
        caches.load(5, 0, 0, first);
        caches.load(5, 1, 0, !first);
        pass(caches, 0, 18);
        EXPECT_TRUE(caches.contains_l1(5));
    }
}

TEST(PrivateCaches, APrefetchIntoTheL2HoldsAFillBufferUntilTheL2HasAnswered) {
    PrivateCacheConfig config = sample();
    config.fill_buffers = 2;
    PrivateCaches caches(config, kClock);
    caches.warm(1, Level::L1, false);
    EXPECT_EQ(caches.prefetch(1, false, 5),
              PrivateCaches::Outcome::Waiting);  // a hit of the L1 too
    EXPECT_EQ(caches.prefetch(2, false, 5), PrivateCaches::Outcome::Waiting);
    EXPECT_EQ(asked(caches), (std::vector<Line>{2}));
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
    PrivateCacheConfig config = sample();
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
    PrivateCaches caches(tiny(), kClock);
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

TEST(PrivateCaches, AMissWithoutRoomInTheL2IsAskedForBeforeYoungerOnes) {
    PrivateCacheConfig config = sample();
    config.fill_buffers = 3;
    config.l2_outstanding = 1;
    PrivateCaches caches(config, kClock);
    for (Line line = 10; line < 13; ++line) {
        caches.load(line, 0, 0, true);
    }
    // 10 gives its buffer to 13, which is younger than 12 behind it.
    for (Line line = 10; line < 13; ++line) {
        const std::int64_t now = 29 * (line - 9);
        ASSERT_EQ(caches.outbox().size(), 1U);
        EXPECT_EQ(caches.outbox()[0].line, line);
        caches.outbox().clear();
        caches.deliver(line, now);
        EXPECT_EQ(pass(caches, now, now + 2).size(), 1U);
        EXPECT_EQ(caches.load(line + 3, now + 2, 0, true), PrivateCaches::Outcome::Waiting);
    }
}

TEST(PrivateCaches, AStorePastTheCachesHoldsAFillBufferSoLongAndLeavesNoLine) {
    PrivateCacheConfig config = sample();
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

TEST(PrivateCaches, ALineWrittenBackHoldsAFillBufferUntilTheL2sPipelineHasTakenIt) {
    PrivateCacheConfig config = sample();
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

TEST(PrivateCaches, LinesOfTheSameQuarterCostMoreThanThoseOfTheSameHalf) {
    PrivateCacheConfig config = sample();
    config.fill_width = base::BytesPerCycle{64};
    config.same_half_percent = 200;
    config.same_quarter_percent = 300;
    EXPECT_EQ(arrivals(config, {0, 1, 2, 3}), (std::vector<std::int64_t>{17, 18, 19, 20}));
    EXPECT_EQ(arrivals(config, {0, 2, 4, 6}), (std::vector<std::int64_t>{17, 20, 23, 26}));
    EXPECT_EQ(arrivals(config, {0, 4, 8, 12}), (std::vector<std::int64_t>{17, 23, 29, 35}));
    config.bank_fold = 3;  // bit 3 changes the quarter: 0, 0, 1, 1
    EXPECT_EQ(arrivals(config, {0, 4, 8, 12}), (std::vector<std::int64_t>{17, 23, 24, 30}));
}

// Six cycles a quarter: one of its own and five that the next access loses.
PrivateCacheConfig with_quarters(PrivateCacheConfig config) {
    config.fill_width = base::BytesPerCycle{64};
    config.same_half_percent = 200;
    config.same_quarter_percent = 300;
    return config;
}

TEST(PrivateCaches, AMissLookedUpKeepsLinesOfItsQuarterInTheL2AndLetsOthersPass) {
    PrivateCaches caches(with_quarters(sample()), kClock);
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
        PrivateCaches caches(with_quarters(tiny()), kClock);
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
    PrivateCacheConfig config = with_quarters(sample());
    config.bank_fold = 2;  // other halves than the quarters say: the path loses nothing
    for (const auto& [second, when] : {std::pair{Line{201}, 30}, std::pair{Line{204}, 29 + 6}}) {
        PrivateCaches caches(config, kClock);
        caches.load(200, 0, 0, true);
        caches.load(second, 0, 1, true);
        caches.deliver(200, 29);
        caches.deliver(second, 29);
        EXPECT_EQ(pass(caches, 20, 30).size(), 1U);
        EXPECT_TRUE(pass(caches, 30, when).empty());
        EXPECT_EQ(pass(caches, when, when + 1).size(), 1U);
    }
}

TEST(PrivateCaches, ALoadInstructionsThirdEqualStrideIsFetchedIntoTheL1) {
    PrivateCacheConfig config = sample();
    config.l1_stride = true;
    PrivateCaches caches(config, kClock);
    for (const Line line : {640, 642, 644}) {
        caches.warm(line, Level::L1, false);
        caches.train(7, line, 0);
    }
    EXPECT_EQ(asked(caches), (std::vector<Line>{646}));
    caches.deliver(646, 29);
    pass(caches, 0, 30);
    EXPECT_TRUE(caches.contains_l1(646));
}

TEST(PrivateCaches, AnotherCoreTakesALineFromBothCaches) {
    PrivateCaches caches(sample(), kClock);
    caches.warm(1, Level::L1, false);
    caches.warm(2, Level::L2, true);
    EXPECT_FALSE(caches.give_up(1));
    EXPECT_TRUE(caches.give_up(2));
    EXPECT_FALSE(caches.has_or_awaits(1));
    EXPECT_FALSE(caches.has_or_awaits(2));
    caches.load(3, 0, 0, true);
    EXPECT_TRUE(caches.has_or_awaits(3));
}

TEST(PrivateCaches, TheNextLinePrefetcherFetchesTheLineAfterAMissOfTheL1) {
    PrivateCacheConfig config = sample();
    PrivateCaches off(config, kClock);
    off.load(10, 0, 0, true);
    EXPECT_EQ(asked(off), (std::vector<Line>{10}));
    config.l1_next_line = true;
    PrivateCaches on(config, kClock);
    on.warm(20, Level::L1, false);
    on.warm(31, Level::L1, false);
    on.load(20, 0, 0, true);  // a hit starts none
    EXPECT_TRUE(asked(on).empty());
    on.load(10, 0, 7, true);
    EXPECT_EQ(asked(on), (std::vector<Line>{10, 11}));
    on.load(30, 0, 8, true);  // line 31 is there
    EXPECT_EQ(asked(on), (std::vector<Line>{30}));
    EXPECT_EQ(on.level_of(31), Level::L1);  // and not on its way
    on.deliver(11, 29);
    EXPECT_TRUE(pass(on, 0, 30).empty());  // nobody waits for it
    EXPECT_TRUE(on.contains_l1(11));
}

TEST(PrivateCaches, TheAdjacentLineOfAMissOfTheL2IsFetchedIntoTheL2) {
    PrivateCacheConfig config = sample();
    config.l2_adjacent_line = true;
    PrivateCaches caches(config, kClock);
    caches.warm(21, Level::L2, false);
    caches.warm(30, Level::L2, false);
    caches.load(7, 0, 0, true);
    EXPECT_EQ(asked(caches), (std::vector<Line>{7, 6}));
    caches.load(20, 0, 0, true);  // its pair is there
    EXPECT_EQ(asked(caches), (std::vector<Line>{20}));
    caches.load(30, 0, 0, true);  // no miss
    EXPECT_TRUE(asked(caches).empty());
    caches.deliver(6, 29);
    pass(caches, 0, 30);
    EXPECT_TRUE(caches.contains_l2(6));
    EXPECT_FALSE(caches.contains_l1(6));
}

TEST(PrivateCaches, TheStreamerFollowsAscendingLoadsOfTheL2WithinThePage) {
    PrivateCacheConfig config = sample();
    config.l2_streamer = 3;
    config.l2_streamer_wakes = 1;
    PrivateCaches caches(config, kClock);
    caches.warm(65, Level::L2, false);
    caches.warm(67, Level::L2, false);
    caches.load(64, 0, 0, true);
    EXPECT_EQ(asked(caches), (std::vector<Line>{64}));
    caches.load(65, 0, 0, true);  // a hit of the L2 trains it too; 67 is there
    EXPECT_EQ(asked(caches), (std::vector<Line>{66}));
    caches.load(126, 0, 0, true);  // the page ends with line 127
    EXPECT_EQ(asked(caches), (std::vector<Line>{126, 127}));
    caches.own(192, 0);  // stores train nothing
    caches.own(193, 0);
    EXPECT_EQ(asked(caches), (std::vector<Line>{192, 193}));
}

std::vector<UncoreRequest::Kind> kinds_asked(PrivateCaches& caches) {
    std::vector<UncoreRequest::Kind> kinds;
    for (const UncoreRequest& request : caches.outbox()) {
        kinds.push_back(request.kind);
    }
    return kinds;
}

TEST(PrivateCaches, TheStreamerFetchesIntoTheL3WhileTheL1HasAllItsMissesUnderWay) {
    PrivateCacheConfig config = sample();
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
    PrivateCacheConfig config = sample();
    config.l2_adjacent_line = true;
    config.fill_buffers = 2;
    PrivateCaches caches(config, kClock);
    caches.load(7, 0, 0, true);
    caches.load(20, 0, 0, true);
    using Kind = UncoreRequest::Kind;
    EXPECT_EQ(kinds_asked(caches),
              (std::vector<Kind>{Kind::Read, Kind::Read, Kind::Read, Kind::Prefetch}));
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
