#include "arch/amx/caches/page_map.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilesim::arch::amx::caches {
namespace {

TEST(PageMap, EveryLineOfAProgramHasALineOfMemoryOfItsOwnAndIsFoundByIt) {
    const PageMap map(true);
    std::set<Line> frames;
    for (Line page = 0; page < 5000; ++page) {
        const Line line = page * 6709 * kLinesPerPage + page % kLinesPerPage;  // up to 2^25 pages
        const Line physical = map.physical(line);
        EXPECT_EQ(map.program_line(physical), line);
        EXPECT_EQ(physical % kLinesPerPage, page % kLinesPerPage);
        frames.insert(physical / kLinesPerPage);
    }
    EXPECT_EQ(frames.size(), 5000U);
}

TEST(PageMap, ContiguousFramesAreAsAddressesSay) {
    EXPECT_EQ(PageMap(false).physical(12345), 12345);
    EXPECT_EQ(PageMap(false).program_line(12345), 12345);
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
