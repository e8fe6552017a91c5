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
    EXPECT_EQ(of(100, INT64_MAX), of(300, INT64_MAX));
}

TEST(StateRecord, WhatStillMattersWhenItLiesBackCountsOn) {
    const auto of = [](std::int64_t now, std::int64_t cycle) {
        StateRecord record = at(now);
        record.past(cycle);
        return record;
    };
    EXPECT_EQ(of(100, 93), of(300, 293));
    EXPECT_FALSE(of(100, 93) == of(100, 94));
    EXPECT_EQ(of(100, INT64_MAX), of(300, INT64_MAX)) << "not known";
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
    EXPECT_FALSE(of(100, 995, 1) == of(100, 991, 1));
    EXPECT_EQ(of(100, 990, 1), of(100, 981, 1));
}

TEST(StateRecord, InstructionsCountFromTheYoungest) {
    const auto by_sequence = [](std::uint64_t next, std::uint64_t sequence) {
        StateRecord record = at(0, next);
        record.sequence(sequence);
        return record;
    };
    const auto by_place = [](std::uint64_t next, std::uint64_t sequence) {
        StateRecord record = at(0, next);
        record.entry(static_cast<std::uint32_t>(sequence % kRing));
        return record;
    };
    EXPECT_EQ(by_sequence(70, 60), by_sequence(134, 124));
    EXPECT_EQ(by_sequence(70, 60), by_sequence(71, 61));
    EXPECT_FALSE(by_sequence(70, 60) == by_sequence(70, 61));
    EXPECT_EQ(by_place(70, 60), by_place(134, 124));
    EXPECT_EQ(by_place(70, 60), by_place(71, 61));
    EXPECT_FALSE(by_place(70, 60) == by_place(70, 61));
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
    EXPECT_FALSE(of(with({1, 2, 3})) == of(with({2, 1, 3})));
    Cache one = with({1, 2, 3});
    Cache other = with({9, 1, 2, 3});
    one.write(3 * kSets);
    other.write(3 * kSets);
    EXPECT_EQ(of(one), of(other)) << "written in another way";
}

TEST(CacheState, HoldsNothingOfALineThatHasLeft) {
    Cache left(cache());
    left.install(kSets, true);
    left.install(2 * kSets, false);
    left.remove(kSets);
    EXPECT_EQ(of(left), of(with({2})));
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

// A tag of each group of ways, and the last of the order.
TEST(CacheState, HoldsEachLineOfManyWaysOfEachSet) {
    const CacheConfig many{base::Bytes{2 * 20 * kLineBytes}, 20};
    const auto state = [&many](Line from, Line to, bool used) {
        Cache tags(many);
        for (Line line = 0; line < 20; ++line) {  // odd lines: the second set
            tags.install(2 * (line == from ? to : line) + 1, false);
        }
        if (used) {  // all but the first and the last
            for (Line line = 1; line < 19; ++line) {
                tags.touch(2 * line + 1);
            }
        }
        return of(tags);
    };
    EXPECT_EQ(state(0, 0, false), state(0, 0, false));
    EXPECT_FALSE(state(0, 0, false) == state(0, 0, true));
    for (const Line line : {0, 7, 16, 19}) {
        EXPECT_FALSE(state(0, 0, false) == state(line, 99, false)) << line;
    }
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

TEST(StreamState, HoldsTheLastLineHowManyAscendedAndWhatIsFetched) {
    const auto streams = [](std::initializer_list<Line> lines, std::int64_t ahead) {
        StreamTable table(1);
        for (const Line line : lines) {
            table.access(line, ahead);
        }
        StateRecord record = at(0);
        table.record(record);
        return record;
    };
    EXPECT_EQ(streams({1, 5, 9}, 4), streams({1, 5, 9}, 4));
    // The page ends with line 63: all of it is fetched.
    EXPECT_FALSE(streams({1, 61}, 4) == streams({1, 62}, 4));
    EXPECT_FALSE(streams({1, 62, 63}, 4) == streams({1, 2, 62, 63}, 4));
    EXPECT_FALSE(streams({1, 5, 9}, 4) == streams({1, 5, 9}, 2));
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

// Both have the same place.
TEST(StrideState, HoldsWhoseStrideItIs) {
    const auto strides = [](std::size_t instruction) {
        StrideTable table;
        table.access(instruction, 5);
        StateRecord record = at(0);
        table.record(record);
        return record;
    };
    EXPECT_FALSE(strides(7) == strides(7 + 64));
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
