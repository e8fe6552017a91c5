#include "arch/amx/caches/page_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

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

// The L2 has 32 pages of sets of 16 ways: a page one of whose colour has more loses its lines.
TEST(PageMap, RunsOfPagesCrowdTheSetsOfTheL2AsFramesByChanceDo) {
    constexpr Line kColours = 32;
    constexpr std::int64_t kWays = 16;
    const PageMap map(true);
    for (const Line first : {Line{0x100}, Line{0x1000}, Line{0x10000}}) {
        // Of so many pages that share: the sum over k > 16 of k C(n, k) / 32^k (31 / 32)^(n - k),
        // by n / 32.
        for (const auto& [pages, share] : {std::pair{Line{320}, 0.045}, std::pair{Line{448}, 0.326},
                                           std::pair{Line{576}, 0.715}}) {
            std::array<std::int64_t, kColours> of{};
            for (Line page = first; page < first + pages; ++page) {
                ++of[static_cast<std::size_t>(map.physical(page * kLinesPerPage) / kLinesPerPage %
                                              kColours)];
            }
            std::int64_t crowded = 0;
            for (const std::int64_t count : of) {
                crowded += count > kWays ? count : 0;
            }
            EXPECT_NEAR(static_cast<double>(crowded) / static_cast<double>(pages), share, 0.06)
                << first << " " << pages;
        }
    }
}

TEST(PageMap, ContiguousFramesAreAsAddressesSay) {
    EXPECT_EQ(PageMap(false).physical(12345), 12345);
    EXPECT_EQ(PageMap(false).program_line(12345), 12345);
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
