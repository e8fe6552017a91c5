#include "arch/amx/caches/private_caches.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

// The cycle in which each of `lines`, all in the L2 and asked for at 0, arrives.
std::vector<std::int64_t> arrivals(const PrivateCacheConfig& config,
                                   const std::vector<Line>& lines) {
    PrivateCaches caches(config);
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
    PrivateCaches caches(config);
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
    PrivateCaches caches(sample());
    caches.warm(5, Level::L2, false);
    caches.load(5, 0, 0, false);
    std::vector<PrivateCaches::Arrival> here;
    caches.advance(17, here);
    EXPECT_EQ(here.size(), 1U);
    EXPECT_FALSE(caches.contains_l1(5));
}

TEST(PrivateCaches, PrefetchersRunAheadWhenTheyAreOn) {
    PrivateCacheConfig config = sample();
    config.l2_adjacent_line = true;
    PrivateCaches pair(config);
    pair.load(7, 0, 0, true);
    EXPECT_EQ(pair.outbox().size(), 2U);
    EXPECT_EQ(pair.outbox()[1].line, 6);
    config.l2_adjacent_line = false;
    config.l2_streamer = 3;
    PrivateCaches stream(config);
    stream.load(64, 0, 0, true);
    EXPECT_EQ(stream.outbox().size(), 1U);
    stream.load(65, 0, 0, true);  // ascending: 66, 67, 68 follow
    EXPECT_EQ(stream.outbox().size(), 5U);
}

TEST(Cache, TheLeastRecentlyUsedLineOfASetLeaves) {
    Cache cache({base::Bytes{64 * 3 * 4}, 3, false});  // 4 sets of 3 ways
    EXPECT_EQ(cache.sets(), 4);
    for (const Line line : {0, 4, 8}) {
        EXPECT_EQ(cache.install(line, line == 4).line, Cache::kNone);
    }
    EXPECT_TRUE(cache.touch(0));
    const Cache::Victim victim = cache.install(12, false);
    EXPECT_EQ(victim.line, 4);
    EXPECT_TRUE(victim.dirty);
    EXPECT_FALSE(cache.contains(4));
    EXPECT_EQ(cache.install(1, false).line, Cache::kNone);  // another set
    EXPECT_EQ(cache.install(16, false).line, 8);
}

TEST(StreamTable, FetchesBehindAnAscendingAccessAndNotBeyondThePage) {
    StreamTable streams(false);
    const auto range = [&](Line line) {
        const auto [first, end] = streams.access(line, 20);
        return std::pair{first, end};
    };
    EXPECT_EQ(range(640), (std::pair<Line, Line>{0, 0}));  // a page's first access
    EXPECT_EQ(range(642), (std::pair<Line, Line>{643, 663}));
    EXPECT_EQ(range(641), (std::pair<Line, Line>{0, 0}));  // descends
    EXPECT_EQ(range(690), (std::pair<Line, Line>{691, 704}));
    EXPECT_EQ(range(705), (std::pair<Line, Line>{0, 0}));  // the next page
    EXPECT_EQ(range(767).first, 768);                      // its last line: nothing behind it
    EXPECT_EQ(range(768), (std::pair<Line, Line>{769, 789}));
    StreamTable beyond(true);
    beyond.access(700, 20);
    EXPECT_EQ(beyond.access(701, 20).end, 722);
}

TEST(Cache, ScatteredPagesSpreadALargeStrideOverTheSets) {
    // 64 lines 128 KiB apart share one set of 16 ways where pages lie in order.
    const auto kept = [](bool scattered) {
        CacheConfig config{base::Bytes{2097152}, 16, false, scattered};
        Cache cache(config);
        std::int64_t count = 0;
        for (Line line = 0; line < 64 * 2048; line += 2048) {
            cache.install(line, false);
        }
        for (Line line = 0; line < 64 * 2048; line += 2048) {
            count += cache.contains(line) ? 1 : 0;
        }
        return count;
    };
    EXPECT_EQ(kept(false), 16);
    EXPECT_EQ(kept(true), 64);
}

TEST(Cache, LeastRecentlyUsedHoldsWhenTheClockOfUsesStartsAgain) {
    Cache cache(CacheConfig{base::Bytes{128}, 2, false});
    cache.install(1, false);
    cache.install(2, false);
    const auto one = [](std::int64_t) { return Line{1}; };
    EXPECT_EQ(cache.touch_run(2000, one), 2000);  // it starts 1000 uses before
    EXPECT_EQ(cache.install(3, false).line, 2);
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
