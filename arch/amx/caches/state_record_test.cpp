#include "arch/amx/caches/state_record.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "arch/amx/caches/private_caches.hpp"

namespace tilesim::arch::amx::caches {
namespace {

constexpr std::uint64_t kRing = 64;

StateRecord at(std::int64_t now, std::uint64_t next = 1) {
    return {now, next, kRing};
}

TEST(StateRecord, TimesCountFromItsCycleAndNoLongerOnceTheyHaveCome) {
    const auto of = [](std::int64_t now, std::int64_t cycle) {
        StateRecord record = at(now);
        record.time(cycle);
        return record;
    };
    EXPECT_EQ(of(100, 107), of(300, 307));
    EXPECT_FALSE(of(100, 107) == of(300, 308));
    EXPECT_EQ(of(100, 100), of(300, 11));
    EXPECT_FALSE(of(100, 101) == of(300, 300));
    EXPECT_FALSE(of(100, INT64_MAX) == of(100, 100)) << "not known";
}

TEST(StateRecord, WhatStillMattersWhenItLiesBackCountsOn) {
    const auto of = [](std::int64_t now, std::int64_t cycle) {
        StateRecord record = at(now);
        record.past(cycle);
        return record;
    };
    EXPECT_EQ(of(100, 93), of(300, 293));
    EXPECT_FALSE(of(100, 93) == of(100, 94));
}

TEST(StateRecord, PartsOfACycleMatterForAsLongAsIsSaid) {
    const auto of = [](std::int64_t now, std::int64_t time, std::int64_t after) {
        StateRecord record = at(now);
        record.time_in_parts(time, 10, after);
        return record;
    };
    EXPECT_EQ(of(100, 1003, 0), of(200, 2003, 0));
    EXPECT_EQ(of(100, 1000, 0), of(100, 991, 0));
    EXPECT_FALSE(of(100, 1000, 1) == of(100, 991, 1));
    EXPECT_EQ(of(100, 990, 1), of(100, 981, 1));
}

TEST(StateRecord, InstructionsCountFromTheYoungest) {
    const auto of = [](std::uint64_t next, std::uint64_t sequence) {
        StateRecord record = at(0, next);
        record.sequence(sequence);
        record.entry(static_cast<std::uint32_t>(sequence % kRing));
        return record;
    };
    EXPECT_EQ(of(70, 60), of(134, 124));
    EXPECT_EQ(of(70, 60), of(71, 61));
    EXPECT_FALSE(of(70, 60) == of(70, 61));
}

constexpr std::int64_t kSets = 8;
CacheConfig cache(std::int64_t random_percent = 0) {
    return {base::Bytes{kSets * 3 * kLineBytes}, 3, random_percent};
}

StateRecord of(const Cache& tags) {
    StateRecord record = at(0);
    tags.record(record);
    return record;
}

// Lines of the first set.
Cache with(std::initializer_list<Line> lines, std::int64_t random_percent = 0) {
    Cache tags(cache(random_percent));
    for (const Line line : lines) {
        tags.install(line * kSets, false);
    }
    return tags;
}

TEST(CacheState, IsTheOrderOfUseNotTheWays) {
    EXPECT_FALSE(of(with({1, 2})) == of(with({2, 1})));
    EXPECT_FALSE(of(with({1, 2})) == of(with({1, 3})));
    EXPECT_EQ(of(with({1, 2, 3})), of(with({9, 1, 2, 3}))) << "3 lies in another way";
    EXPECT_EQ(of(with({1, 2, 1})), of(with({2, 1})));
}

TEST(CacheState, HoldsDirtyLinesSetsAndTheRandomState) {
    Cache dirty = with({1, 2});
    dirty.write(2 * kSets);
    EXPECT_FALSE(of(dirty) == of(with({1, 2})));
    dirty.clean(2 * kSets);
    EXPECT_EQ(of(dirty), of(with({1, 2})));
    Cache other(cache());
    other.install(kSets + 1, false);
    other.install(2 * kSets + 1, false);
    EXPECT_FALSE(of(other) == of(with({1, 2})));
    EXPECT_FALSE(of(with({9, 1, 2, 3}, 100)) == of(with({1, 2, 3}, 100)));
}

TEST(CacheState, IsTheOrderOfUseOfManyWaysToo) {
    const CacheConfig many{base::Bytes{20 * kLineBytes}, 20};
    Cache one(many);
    Cache two(many);
    for (Line line = 0; line < 20; ++line) {
        one.install(line, false);
        two.install(line, false);
    }
    EXPECT_EQ(of(one), of(two));
    one.touch(3);
    EXPECT_FALSE(of(one) == of(two));
    two.touch(3);
    EXPECT_EQ(of(one), of(two));
}

TEST(StreamState, BeginsWithTheStreamReplacedNext) {
    StreamTable one(3);
    StreamTable two(3);
    two.access(99 * kLinesPerPage, 4);
    for (Line page = 0; page < 32; ++page) {  // as many as there are
        one.access(page * kLinesPerPage, 4);
        two.access(page * kLinesPerPage, 4);
    }
    const auto streams = [](const StreamTable& table) {
        StateRecord record = at(0);
        table.record(record);
        return record;
    };
    EXPECT_EQ(streams(one), streams(two));
    one.access(5 * kLinesPerPage + 1, 4);
    EXPECT_FALSE(streams(one) == streams(two));
}

TEST(StrideState, HoldsTheLastLineAndTheStride) {
    const auto strides = [](std::initializer_list<Line> lines) {
        StrideTable table;
        for (const Line line : lines) {
            table.access(7, line);
        }
        StateRecord record = at(0);
        table.record(record);
        return record;
    };
    EXPECT_EQ(strides({1, 3, 5}), strides({3, 5}));
    EXPECT_FALSE(strides({1, 3, 5}) == strides({2, 3, 5, 7}));
    EXPECT_FALSE(strides({1, 5}) == strides({3, 5}));
}

PrivateCacheConfig two_levels() {
    PrivateCacheConfig config;
    config.l1 = {base::Bytes{8 * kLineBytes}, 2};
    config.l2 = {base::Bytes{64 * kLineBytes}, 4};
    return config;
}

TEST(PrivateCachesState, HoldsWhatIsUnderWayAndWhen) {
    const auto state = [](Line line, std::int64_t asked, std::uint32_t waiter, std::int64_t now) {
        PrivateCaches caches(two_levels(), base::Hertz{1'000'000'000});
        caches.warm(line, Level::L2, false);
        caches.load(line, asked, waiter, true);
        StateRecord record{now, waiter + 1, kRing};
        caches.record(record);
        return record;
    };
    EXPECT_EQ(state(5, 10, 3, 12), state(5, 110, 4, 112));
    EXPECT_FALSE(state(5, 10, 3, 12) == state(5, 11, 3, 12));
    EXPECT_FALSE(state(5, 10, 3, 12) == state(6, 10, 3, 12));
}

// Line 64 drives line 0 of its set out, which keeps the only place for misses for 50 cycles.
TEST(PrivateCachesState, HoldsWhenVictimsWillBeAnsweredAndWhetherAnyoneWaitsForThat) {
    const auto state = [](std::int64_t driven_out, bool refused, std::int64_t now) {
        PrivateCacheConfig config = two_levels();
        config.l2_outstanding = 1;
        PrivateCaches caches(config, base::Hertz{1'000'000'000}, base::Femtoseconds{50'000'000});
        for (const Line line : {0, 16, 32, 48}) {
            caches.warm(line, Level::L2, false);
        }
        caches.prefetch(64, false, 0);
        caches.deliver(64, driven_out);
        std::vector<PrivateCaches::Arrival> arrivals;
        for (std::int64_t cycle = 0; cycle <= driven_out; ++cycle) {
            caches.advance(cycle, arrivals);
        }
        if (refused) {
            EXPECT_EQ(caches.prefetch(80, false, driven_out), PrivateCaches::Outcome::NoBuffer);
        }
        StateRecord record = at(now);
        caches.record(record);
        return record;
    };
    EXPECT_EQ(state(30, false, 60), state(130, false, 160));
    EXPECT_FALSE(state(30, false, 60) == state(31, false, 60));
    EXPECT_FALSE(state(30, false, 60) == state(30, true, 60));
    EXPECT_EQ(state(30, false, 80), state(30, false, 90));  // answered
}

TEST(PrivateCachesState, ExchangesCountWhatIsSentAndWhatIsTaken) {
    PrivateCaches caches(two_levels(), base::Hertz{1'000'000'000});
    caches.warm(5, Level::L2, false);
    caches.load(5, 1, 1, true);
    EXPECT_EQ(caches.exchanges(), 0);
    EXPECT_TRUE(caches.quiet());
    caches.load(6, 1, 1, true);
    EXPECT_EQ(caches.exchanges(), 1);
    EXPECT_FALSE(caches.quiet());
    caches.give_up(5);
    EXPECT_EQ(caches.exchanges(), 2);
}

TEST(PrivateCachesState, SkippedCyclesLieBetweenItsCyclesAndTheUncores) {
    PrivateCaches caches(two_levels(), base::Hertz{1'000'000'000});
    CacheCounters counted;
    counted.fills = 17;
    caches.skip(1000, counted);
    EXPECT_EQ(caches.counters().fills, 17);
    caches.load(6, 20, 1, true);
    ASSERT_EQ(caches.outbox().size(), 1);
    EXPECT_EQ(caches.outbox().front().cycle, 1020);
    caches.deliver(6, 1090);
    EXPECT_EQ(caches.next_event(20), 90);
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
