#include "arch/amx/caches/cache.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilesim::arch::amx::caches {
namespace {

// `sets` of `ways`.
CacheConfig cache_of(std::int64_t sets, std::int64_t ways) {
    return {base::Bytes{kLineBytes * ways * sets}, ways};
}

TEST(Cache, HoldsAsManyLinesOfASetAsItHasWays) {
    for (const std::int64_t ways : {1, 3, 7}) {
        Cache cache(cache_of(5, ways));  // sets need be no power of two
        ASSERT_EQ(cache.sets(), 5);
        for (Line line = 2; line < 2 + 5 * ways; line += 5) {
            EXPECT_EQ(cache.install(line, false).line, Cache::kNone);
        }
        EXPECT_EQ(cache.install(2 + 5 * ways, false).line, 2);
        EXPECT_EQ(cache.install(3, false).line, Cache::kNone);  // the next set
    }
}

TEST(Cache, LinesAlikeInTheirLowBitsAreFoundHoweverManyThereAre) {
    constexpr Line kLines = 61 * 13;  // more than a byte counts
    constexpr Line kApart = 1 << 20;
    Cache cache(cache_of(61, 13));
    for (Line i = 0; i < kLines; ++i) {
        EXPECT_EQ(cache.install(i * kApart, false).line, Cache::kNone);
    }
    for (Line i = 0; i < kLines; ++i) {
        EXPECT_TRUE(cache.contains(i * kApart)) << i;
        cache.remove(i * kApart);
        EXPECT_FALSE(cache.contains(i * kApart)) << i;
    }
}

TEST(Cache, ALineThatIsInstalledAgainStaysAndIsTheMostRecent) {
    Cache cache(cache_of(1, 2));
    cache.install(1, true);
    cache.install(2, false);
    EXPECT_EQ(cache.install(1, false).line, Cache::kNone);
    EXPECT_TRUE(cache.dirty(1));  // and as dirty as it was
    EXPECT_FALSE(cache.dirty(2));
    EXPECT_EQ(cache.install(3, false).line, 2);
    EXPECT_FALSE(cache.dirty(3));
    cache.install(3, true);  // written since
    EXPECT_TRUE(cache.dirty(3));
    EXPECT_EQ(cache.install(4, false).line, 1);
    EXPECT_FALSE(cache.dirty(4)) << "in the way of a line that was written";
}

TEST(Cache, ALineIsCleanOrTakenOutOfWhateverWayItIsIn) {
    for (const Line line : {1, 2, 3}) {
        Cache cache(cache_of(1, 3));
        for (const Line each : {1, 2, 3}) {
            cache.install(each, true);
        }
        cache.clean(line);
        for (const Line each : {1, 2, 3}) {
            EXPECT_EQ(cache.dirty(each), each != line);
        }
        EXPECT_FALSE(cache.has_room(line));
        cache.remove(line);
        EXPECT_TRUE(cache.has_room(line));
        EXPECT_FALSE(cache.dirty(line));  // not there
        const Cache::Victim victim = cache.install(4, false);
        EXPECT_EQ(victim.line, Cache::kNone);
        EXPECT_FALSE(cache.dirty(4));
        for (const Line each : {1, 2, 3}) {
            EXPECT_EQ(cache.contains(each), each != line);
        }
    }
}

TEST(Cache, OnlyLinesThatWereWrittenLeaveDirty) {
    Cache cache(cache_of(1, 2));
    cache.install(1, false);
    cache.install(2, false);
    EXPECT_FALSE(cache.write(3));  // not there
    EXPECT_TRUE(cache.write(1));   // and is the most recent
    Cache::Victim victim = cache.install(3, false);
    EXPECT_EQ(victim.line, 2);
    EXPECT_FALSE(victim.dirty);
    victim = cache.install(4, false);
    EXPECT_EQ(victim.line, 1);
    EXPECT_TRUE(victim.dirty);
}

TEST(Cache, ALineThatIsTakenOutLeavesRoom) {
    Cache cache(cache_of(1, 2));
    cache.install(1, true);
    EXPECT_TRUE(cache.has_room(2));
    cache.install(2, true);
    EXPECT_FALSE(cache.has_room(2));
    cache.remove(1);
    EXPECT_TRUE(cache.has_room(1));
    cache.remove(1);  // it is not there
    EXPECT_FALSE(cache.contains(1));
    EXPECT_TRUE(cache.contains(2));
    const Cache::Victim victim = cache.install(3, false);
    EXPECT_EQ(victim.line, Cache::kNone);
    EXPECT_FALSE(victim.dirty) << "the way's last line was, and has gone";
}

TEST(Cache, IsTightOnceASetsLastWayIsTaken) {
    Cache cache(cache_of(2, 3));
    for (const Line line : {0, 1, 2, 3}) {
        cache.install(line, false);
    }
    EXPECT_FALSE(cache.tight());  // two ways of each set
    cache.install(4, false);
    EXPECT_TRUE(cache.tight());
    Cache one(cache_of(2, 1));
    one.install(0, false);
    EXPECT_TRUE(one.tight());
    one.remove(0);
    EXPECT_FALSE(one.tight()) << "a set without lines needs no way";
    cache.remove(4);
    EXPECT_FALSE(cache.tight());
    cache.install(4, false);
    cache.install(6, false);
    cache.remove(4);
    cache.remove(6);
    EXPECT_TRUE(cache.tight());  // a line has been displaced
}

TEST(Cache, ARunOfTouchesEndsAtTheFirstLineThatIsNotThere) {
    Cache cache(cache_of(1, 4));
    for (const Line line : {0, 1, 3}) {
        cache.install(line, false);
    }
    EXPECT_EQ(cache.touch_run(4, [](std::int64_t i) { return i; }), 2);
    EXPECT_EQ(cache.touch_run(1, [](std::int64_t i) { return i; }), 1);
}

TEST(Cache, ARunOfTouchesIsAUseOfEachLineInWhateverCache) {
    for (const auto& [sets, ways] : {std::pair{1, 3}, {3, 3}, {2, 20}}) {
        Cache cache(cache_of(sets, ways));
        const auto line = [sets = sets](std::int64_t i) { return Line{i * sets}; };  // of set 0
        for (std::int64_t i = 0; i < ways; ++i) {
            cache.install(line(i), false);
        }
        EXPECT_TRUE(cache.contains(line(0)));
        EXPECT_EQ(cache.touch_run(ways - 1, line), ways - 1);  // all but the last
        EXPECT_EQ(cache.touch_run(100, [&](std::int64_t i) { return line(i + ways); }), 0);
        EXPECT_EQ(cache.install(line(ways), false).line, line(ways - 1)) << sets;
    }
}

TEST(Cache, OnlyTheLineUsedLastIsTheLatestOfItsSet) {
    Cache cache(cache_of(2, 3));
    for (const Line line : {0, 2, 1}) {
        cache.install(line, false);
    }
    EXPECT_TRUE(cache.latest(2));
    EXPECT_FALSE(cache.latest(0));
    EXPECT_FALSE(cache.latest(4));
    EXPECT_TRUE(cache.latest(1));
    Cache wide(cache_of(1, 20));  // asked of sets of few ways
    wide.install(0, false);
    EXPECT_FALSE(wide.latest(0));
}

// Of two ways one is the line before: it leaves when chance picks it, half of four in ten.
TEST(Cache, SoManyOfAHundredVictimsArePickedByChance) {
    CacheConfig config = cache_of(1, 2);
    config.random_percent = 40;
    Cache cache(config);
    constexpr Line kLines = 100'000;
    Line newest = 0;
    for (Line line = 0; line < kLines; ++line) {
        newest += cache.install(line, false).line == line - 1 ? 1 : 0;
    }
    newest -= 1;  // nothing left for the first line: -1
    EXPECT_NEAR(static_cast<double>(newest) / kLines, 0.4 / 2, 0.005);
}

TEST(Cache, RandomReplacementEvictsEveryWayOfASetSooner) {
    // Lines are touched in their order: least recently used evicts the oldest every time.
    const auto victims = [](bool random) {
        CacheConfig config = cache_of(1, 4);
        config.random_percent = random ? 100 : 0;
        Cache cache(config);
        std::set<Line> ages;
        for (Line line = 0; line < 100; ++line) {
            const Line victim = cache.install(line, false).line;
            if (victim != Cache::kNone) {
                ages.insert(line - victim);
            }
        }
        return ages;
    };
    EXPECT_EQ(victims(false), (std::set<Line>{4}));
    EXPECT_EQ(*victims(true).begin(), 1);
    EXPECT_GT(*victims(true).rbegin(), 4);
}

TEST(Cache, TheLeastRecentlyUsedLineOfASetLeaves) {
    Cache cache({base::Bytes{64 * 3 * 4}, 3});  // 4 sets of 3 ways
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

TEST(Cache, ALineInstalledAsTheNextToGoGoesBeforeOlderOnes) {
    for (const std::int64_t ways : {3, 16, 20}) {
        Cache cache(cache_of(1, ways));
        for (Line line = 0; line < ways - 1; ++line) {
            cache.install(line, false);
        }
        EXPECT_EQ(cache.install_next_to_go(100).line, Cache::kNone);  // there is room
        EXPECT_EQ(cache.install_next_to_go(101).line, 100);
        EXPECT_EQ(cache.install_next_to_go(101).line, Cache::kNone);  // it is there
        EXPECT_EQ(cache.install(102, false).line, 101);
        EXPECT_EQ(cache.install(103, false).line, 0);  // the others go as before
        EXPECT_EQ(cache.install(104, false).line, 1);
        cache.touch(102);
        cache.remove(103);
        cache.install_next_to_go(105);  // in a way that was used last but one
        EXPECT_EQ(cache.install(106, false).line, 105);
    }
}

TEST(Cache, LeastRecentlyUsedHoldsOverMoreWaysThanALineOfTheHostHasTags) {
    Cache cache(cache_of(1, 20));
    for (Line line = 0; line < 20; ++line) {
        EXPECT_EQ(cache.install(line, line == 18).line, Cache::kNone);
    }
    EXPECT_TRUE(cache.touch(0));
    for (Line line = 20; line < 38; ++line) {  // all but the last, and the one touched
        const Cache::Victim victim = cache.install(line, false);
        EXPECT_EQ(victim.line, line - 19);
        EXPECT_EQ(victim.dirty, line == 37);
    }
    EXPECT_TRUE(cache.contains(19));
    EXPECT_EQ(cache.install(38, false).line, 19);
    EXPECT_EQ(cache.install(39, false).line, 0);
    EXPECT_TRUE(cache.contains(20));
}

TEST(Cache, SetsOfManyWaysAreSetsOfTheirOwn) {
    Cache cache(cache_of(2, 20));
    for (Line line = 0; line < 40; ++line) {
        EXPECT_EQ(cache.install(line, line % 3 == 0).line, Cache::kNone);
    }
    for (Line line = 0; line < 40; ++line) {
        EXPECT_EQ(cache.dirty(line), line % 3 == 0) << line;
    }
    for (Line line = 40; line < 80; ++line) {
        const Cache::Victim victim = cache.install(line, false);
        EXPECT_EQ(victim.line, line - 40);  // of its own set, the oldest
        EXPECT_EQ(victim.dirty, victim.line % 3 == 0);
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
