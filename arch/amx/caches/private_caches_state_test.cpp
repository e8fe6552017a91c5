// What private caches are in, as far as it decides what they do next.
#include <gtest/gtest.h>

#include <vector>

#include "arch/amx/caches/private_caches.hpp"
#include "arch/amx/caches/private_caches_testing.hpp"

namespace tilesim::arch::amx::caches {
namespace {

PrivateCacheConfig two_levels() {
    PrivateCacheConfig config;
    config.l1 = {base::Bytes{8 * kLineBytes}, 2};
    config.l2 = {base::Bytes{64 * kLineBytes}, 4};
    return config;
}

constexpr std::uint64_t kPlaces = 64;

StateRecord of(const PrivateCaches& caches, std::int64_t now, std::uint64_t next = 10) {
    StateRecord record{now, next, kPlaces};
    caches.record(record);
    return record;
}

TEST(PrivateCachesState, HoldsWhatIsUnderWayAndWhen) {
    const auto state = [](Line line, std::int64_t asked, std::uint32_t waiter, std::int64_t now) {
        PrivateCaches caches(two_levels(), kClock);
        caches.warm(line, Level::L2, false);
        caches.load(line, asked, waiter, true);
        return of(caches, now, waiter + 1);
    };
    EXPECT_EQ(state(5, 10, 3, 12), state(5, 110, 4, 112));
    EXPECT_FALSE(state(5, 10, 3, 12) == state(5, 11, 3, 12));
    EXPECT_FALSE(state(5, 10, 3, 12) == state(6, 10, 3, 12));
}

TEST(PrivateCachesState, HoldsWhoWaitsForALineAndWhetherItEntersTheL1) {
    const auto state = [](std::initializer_list<std::uint32_t> waiters, bool fills_l1 = true) {
        PrivateCaches caches(two_levels(), kClock);
        caches.warm(5, Level::L2, false);
        for (const std::uint32_t waiter : waiters) {
            caches.load(5, 0, waiter, fills_l1);
        }
        return of(caches, 1);
    };
    EXPECT_FALSE(state({3}) == state({4}));
    EXPECT_FALSE(state({3, 4}) == state({3, 5}));
    EXPECT_FALSE(state({3}) == state({3, 3}));
    EXPECT_FALSE(state({3}) == state({3}, false));
}

// Behind line 1, which takes the path for 64 cycles, line 5 is ready in cycle 17 of either.
TEST(PrivateCachesState, HoldsFromWhereALineComes) {
    const auto state = [](bool miss) {
        PrivateCacheConfig config = two_levels();
        config.fill_width = base::BytesPerCycle{1};
        PrivateCaches caches(config, kClock);
        caches.warm(1, Level::L2, false);
        caches.load(1, 0, 2, true);
        if (miss) {
            caches.load(5, 1, 3, true);
            caches.deliver(5, 17);
        } else {
            caches.warm(5, Level::L2, false);
            caches.load(5, 0, 3, true);
        }
        pass(caches, 0, 30);
        return of(caches, 30);
    };
    EXPECT_FALSE(state(true) == state(false));
}

// Both hold their buffers until cycle 19.
TEST(PrivateCachesState, HoldsWhichWaitIsAStorePastTheCaches) {
    const auto state = [](bool stream_first) {
        PrivateCacheConfig config = two_levels();
        config.l2_latency = base::Cycles{17};
        config.streaming_store = base::Femtoseconds{19'000'000};
        PrivateCaches caches(config, kClock);
        for (const bool stream : {stream_first, !stream_first}) {
            if (stream) {
                caches.stream(7, 0);
            } else {
                caches.prefetch(8, false, 0);
            }
        }
        return of(caches, 1);
    };
    EXPECT_EQ(state(true), state(true));
    EXPECT_FALSE(state(true) == state(false));
}

// Line 1 goes 17 cycles after it was asked for; then nothing is under way.
StateRecord after_a_line(const PrivateCacheConfig& config, Line line, std::int64_t asked,
                         std::int64_t now) {
    PrivateCaches caches(config, kClock);
    caches.warm(line, Level::L2, false);
    caches.load(line, asked, 3, true);
    pass(caches, asked, asked + 18);
    EXPECT_TRUE(caches.idle());
    return of(caches, now);
}

TEST(PrivateCachesState, HoldsHowLongTheLastLineTakesThePathAndThePipeline) {
    PrivateCacheConfig path = two_levels();
    path.l2_latency = base::Cycles{17};
    path.fill_width = base::BytesPerCycle{16};  // until 17 + 4
    EXPECT_EQ(after_a_line(path, 1, 0, 20), after_a_line(path, 1, 100, 120));
    EXPECT_FALSE(after_a_line(path, 1, 0, 20) == after_a_line(path, 1, 1, 20));
    PrivateCacheConfig banks = path;
    banks.half_percent = 900;
    EXPECT_FALSE(after_a_line(banks, 1, 0, 20) == after_a_line(banks, 2, 0, 20)) << "its half";
    EXPECT_FALSE(after_a_line(banks, 1, 0, 22) == after_a_line(banks, 1, 1, 22));
    banks.half_percent = 0;
    banks.quarter_percent = 900;
    EXPECT_FALSE(after_a_line(banks, 1, 0, 20) == after_a_line(banks, 3, 0, 20)) << "its quarter";
    PrivateCacheConfig pipeline = path;
    pipeline.fill_width = base::BytesPerCycle{64};
    EXPECT_EQ(after_a_line(pipeline, 1, 0, 21), after_a_line(pipeline, 1, 1, 21));
    pipeline.read_percent = 500;
    EXPECT_FALSE(after_a_line(pipeline, 1, 0, 21) == after_a_line(pipeline, 1, 1, 21));
}

TEST(PrivateCachesState, HoldsUntilWhenMissesTakeEachQuarter) {
    const auto state = [](Line line, std::int64_t asked, std::int64_t now) {
        PrivateCacheConfig config = two_levels();
        config.quarter_percent = 600;
        PrivateCaches caches(config, kClock);
        caches.load(line, asked, 3, true);
        return of(caches, now);
    };
    EXPECT_EQ(state(4, 0, 3), state(8, 100, 103));
    EXPECT_FALSE(state(4, 0, 3) == state(4, 1, 3));
    EXPECT_FALSE(state(4, 0, 3) == state(5, 0, 3));
    EXPECT_EQ(state(4, 0, 8), state(5, 1, 8));  // over
}

// A line written back costs more behind one of the same half.
TEST(PrivateCachesState, HoldsTheHalfThatWasWrittenLast) {
    const auto state = [](Line written) {
        PrivateCacheConfig config = tiny_sample();
        PrivateCaches caches(config, kClock);
        caches.warm(written, Level::L1, true);
        caches.warm(30, Level::L1, false);
        caches.warm(31, Level::L2, false);
        caches.load(31, 0, 3, true);
        pass(caches, 0, 40);
        EXPECT_EQ(caches.counters().write_backs, 1);
        return of(caches, 40);
    };
    EXPECT_EQ(state(2), state(4));
    EXPECT_FALSE(state(2) == state(3));
}

TEST(PrivateCachesState, HasTagsOfBothCachesAndWhatBothPrefetchersKnow) {
    const auto tags = [](auto change) {
        PrivateCacheConfig config = two_levels();
        config.l1_stride = true;
        config.l2_streamer = 4;
        PrivateCaches caches(config, kClock);
        caches.warm(1, Level::L1, false);
        caches.warm(2, Level::L1, false);
        caches.warm(640, Level::L2, false);
        change(caches);
        StateRecord record{0, 10, kPlaces};
        caches.record_tags(record);
        return record;
    };
    const StateRecord before = tags([](PrivateCaches&) {});
    EXPECT_FALSE(before == tags([](PrivateCaches& caches) { caches.commit(1); }));
    EXPECT_FALSE(before == tags([](PrivateCaches& caches) { caches.warm(5, Level::L2, false); }));
    EXPECT_FALSE(before == tags([](PrivateCaches& caches) { caches.train(7, 1, 0); }));
    const auto asks = [](std::int64_t times) {
        return [times](PrivateCaches& caches) {
            for (std::int64_t i = 0; i < times; ++i) {
                caches.load(640, i, 0, true);
            }
        };
    };
    EXPECT_FALSE(before == tags(asks(1)));
    EXPECT_EQ(tags(asks(1)), tags(asks(2)));  // the second joins the first
}

// Line 64 drives line 0 of its set out, which keeps the only place for misses for 50 cycles.
TEST(PrivateCachesState, HoldsWhenVictimsWillBeAnsweredAndWhetherAnyoneWaitsForThat) {
    const auto state = [](std::int64_t driven_out, bool refused, std::int64_t now) {
        PrivateCacheConfig config = two_levels();
        config.l2_outstanding = 1;
        PrivateCaches caches(config, kClock, base::Femtoseconds{50'000'000});
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
        return of(caches, now);
    };
    EXPECT_EQ(state(30, false, 60), state(130, false, 160));
    EXPECT_FALSE(state(30, false, 60) == state(31, false, 60));
    EXPECT_FALSE(state(30, false, 60) == state(30, true, 60));
    EXPECT_EQ(state(30, false, 80), state(30, false, 90));  // answered
}

TEST(PrivateCachesState, ExchangesCountWhatIsSentAndWhatIsTaken) {
    PrivateCaches caches(two_levels(), kClock);
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
    PrivateCaches caches(two_levels(), kClock);
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
