#include "arch/amx/caches/stream_table.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

constexpr Line kPage = 10 * kLinesPerPage;

std::pair<Line, Line> range(StreamTable& streams, Line line, std::int64_t ahead) {
    const auto [first, end] = streams.access(line, ahead);
    return {first - line, end - line};
}
constexpr std::pair<Line, Line> nothing(Line line) {
    return {-line, -line};
}

TEST(StreamTable, TheStreamerGainsTwoLinesAnAccessOnceItIsAwake) {
    StreamTable streams(3);
    for (Line i = 0; i < 3; ++i) {
        EXPECT_EQ(range(streams, kPage + i, 20), nothing(kPage + i));
    }
    // Two ahead of the fourth line, four of the fifth, of which one is on its way.
    EXPECT_EQ(range(streams, kPage + 3, 20), (std::pair<Line, Line>{1, 3}));
    EXPECT_EQ(range(streams, kPage + 4, 20), (std::pair<Line, Line>{2, 5}));
    EXPECT_EQ(range(streams, kPage + 5, 20), (std::pair<Line, Line>{4, 7}));
}

TEST(StreamTable, ItRunsNoFurtherAheadThanItIsTold) {
    StreamTable streams(1);
    for (Line i = 0; i < 4; ++i) {
        streams.access(kPage + i, 5);
    }
    EXPECT_EQ(range(streams, kPage + 4, 5), (std::pair<Line, Line>{5, 6}));
}

TEST(StreamTable, ItEndsWithThePage) {
    StreamTable streams(1);
    streams.access(kPage + 60, 20);
    streams.access(kPage + 61, 20);  // 62 and 63 are fetched
    EXPECT_EQ(range(streams, kPage + 62, 20), nothing(kPage + 62));
    EXPECT_EQ(range(streams, kPage + 64, 20), nothing(kPage + 64));
}

TEST(StreamTable, LinesThatDoNotAscendCountForNothing) {
    StreamTable streams(1);
    streams.access(kPage + 5, 20);
    EXPECT_EQ(range(streams, kPage + 5, 20), nothing(kPage + 5));
    EXPECT_EQ(range(streams, kPage + 4, 20), nothing(kPage + 4));
    EXPECT_EQ(range(streams, kPage + 6, 20), (std::pair<Line, Line>{1, 3}));
    EXPECT_EQ(range(streams, kPage + 6, 20), nothing(kPage + 6));  // 6 is the last one now
}

TEST(StreamTable, PagesAlikeInTheirLowBitsAreFollowedEach) {
    constexpr Line kOther = kPage + 256 * kLinesPerPage;
    StreamTable streams(1);
    streams.access(kPage, 7);
    streams.access(kOther, 7);
    EXPECT_EQ(range(streams, kPage + 1, 7), (std::pair<Line, Line>{1, 3}));
    EXPECT_EQ(range(streams, kOther + 1, 7), (std::pair<Line, Line>{1, 3}));
}

TEST(StreamTable, TheMostAscendingLinesAreThoseOfTheLongestStream) {
    StreamTable streams(1);
    EXPECT_EQ(streams.most_ascended(), 0);
    for (const Line line : {kPage, kPage + 1, kPage + 2, kPage + 70, kPage + 71}) {
        streams.access(line, 4);
    }
    EXPECT_EQ(streams.most_ascended(), 3);
}

TEST(StreamTable, RemembersThirtyTwoPages) {
    for (const Line others : {31, 32}) {
        StreamTable streams(1);
        streams.access(0, 7);
        for (Line page = 1; page <= others; ++page) {
            streams.access(page * kLinesPerPage, 7);
        }
        const StreamTable::Lines lines = streams.access(1, 7);
        EXPECT_EQ(lines.end - lines.first, others == 31 ? 2 : 0) << others;
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
