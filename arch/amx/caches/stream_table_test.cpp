#include "arch/amx/caches/stream_table.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

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

TEST(StreamTable, FetchesAsManyLinesAsItIsToldBeyondTheOneAskedFor) {
    StreamTable streams(false);
    streams.access(640, 7);
    EXPECT_EQ(streams.access(641, 7).first, 642);
    EXPECT_EQ(streams.access(642, 7).end, 643 + 7);
    EXPECT_EQ(streams.access(643, 3).end, 644 + 3);
}

TEST(StreamTable, TheSameLineAgainIsNoStream) {
    StreamTable streams(true);
    streams.access(640, 7);
    const StreamTable::Lines again = streams.access(640, 7);
    EXPECT_EQ(again.first, again.end);
}

TEST(StreamTable, RemembersSixteenPages) {
    for (const Line others : {15, 16}) {
        StreamTable streams(true);
        streams.access(0, 7);
        for (Line page = 1; page <= others; ++page) {
            streams.access(2 * page * kLinesPerPage, 7);
        }
        const StreamTable::Lines lines = streams.access(1, 7);
        EXPECT_EQ(lines.end - lines.first, others == 15 ? 7 : 0) << others;
    }
}

TEST(StreamTable, AStreamGoesOnInTheNextPageFromItsLastLineOnly) {
    for (const Line last : {62, 63}) {
        StreamTable streams(false);
        streams.access(last, 7);
        const StreamTable::Lines lines = streams.access(kLinesPerPage, 7);
        EXPECT_EQ(lines.end - lines.first, last == 63 ? 7 : 0) << last;
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
