#include "arch/fabric/page_translation.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "arch/base/spread.hpp"

namespace tilesim::arch::fabric {
namespace {

using namespace base::literals;

constexpr std::int64_t kPageBytes = 4096;
constexpr base::Femtoseconds kWalk = 17_ns;

PageTranslation table(std::int64_t known_pages) {
    return PageTranslation{
        {.page = base::Bytes{kPageBytes}, .known_pages = known_pages, .page_walk = kWalk}};
}

TEST(PageTranslation, AnUnknownPageTakesAWalkAndAKnownOneNothing) {
    PageTranslation pages = table(512);
    EXPECT_EQ(pages.known(0, 100_ns), 100_ns + kWalk);
    EXPECT_EQ(pages.known(kPageBytes - 1, 200_ns), 200_ns);
    EXPECT_EQ(pages.known(kPageBytes, 300_ns), 300_ns + kWalk);
}

TEST(PageTranslation, ThoseWhoAskDuringAWalkWaitForItsEnd) {
    PageTranslation pages = table(512);
    pages.known(0, 100_ns);
    EXPECT_EQ(pages.known(8, 110_ns), 100_ns + kWalk);
    EXPECT_EQ(pages.known(8, 100_ns + kWalk), 100_ns + kWalk);
}

TEST(PageTranslation, WalksFollowEachOther) {
    PageTranslation pages = table(512);
    pages.known(0, 100_ns);
    EXPECT_EQ(pages.known(kPageBytes, 105_ns), 100_ns + kWalk * 2);
    EXPECT_EQ(pages.known(2 * kPageBytes, 100_ns + kWalk * 2), 100_ns + kWalk * 3);
}

TEST(PageTranslation, APageThatAnotherHasDisplacedIsWalkedToAgain) {
    PageTranslation pages = table(1);
    pages.known(0, 100_ns);
    EXPECT_FALSE(pages.has_walked_again());
    pages.known(kPageBytes, 200_ns);
    EXPECT_TRUE(pages.has_walked_again());
    EXPECT_EQ(pages.known(0, 300_ns), 300_ns + kWalk);
}

TEST(PageTranslation, OfFourPagesTheOneNotAskedForLongestMakesRoom) {
    PageTranslation pages = table(4);  // one set
    base::Femtoseconds now{0};
    const auto walked = [&](std::int64_t page) {
        now += 1'000_ns;
        return pages.known(page * kPageBytes, now) > now;
    };
    for (const std::int64_t page : {1, 2, 3, 4}) {
        EXPECT_TRUE(walked(page));
    }
    EXPECT_FALSE(walked(1));
    EXPECT_TRUE(walked(5));  // takes the place of 2
    for (const std::int64_t page : {1, 3, 4, 5}) {
        EXPECT_FALSE(walked(page)) << page;
    }
    EXPECT_TRUE(walked(2));  // and 2 that of 1
    EXPECT_TRUE(walked(1));
}

// Eight places are two sets of four: five pages of one set in turn are never known, four always.
TEST(PageTranslation, ASetHasFourPlaces) {
    const auto walks_of = [](std::size_t in_turn) {
        PageTranslation pages = table(8);
        std::vector<std::int64_t> of_one_set;
        for (std::int64_t page = 0; of_one_set.size() < in_turn; ++page) {
            if (base::spread(page, 32) % 2 == 0) {
                of_one_set.push_back(page);
            }
        }
        std::size_t count = 0;
        base::Femtoseconds now{0};
        for (std::size_t i = 0; i < 4 * in_turn; ++i) {
            now += 1'000_ns;
            count += pages.known(of_one_set[i % in_turn] * kPageBytes, now) > now ? 1 : 0;
        }
        return count;
    };
    EXPECT_EQ(walks_of(4), 4U);
    EXPECT_EQ(walks_of(5), 4U * 5U);
}

// As many pages in turn as there are places: some share one, and no more than a known share.
TEST(PageTranslation, MissesGrowSmoothlyWithTheNumberOfPagesInTurn) {
    constexpr std::int64_t kPlaces = 512;
    const auto misses = [](std::int64_t in_turn) {
        PageTranslation pages = table(kPlaces);
        std::int64_t walks = 0;
        base::Femtoseconds now{0};
        for (std::int64_t i = 0; i < 4 * in_turn; ++i) {
            now += 1'000_ns;
            const bool walked = pages.known(i % in_turn * kPageBytes, now) > now;
            walks += walked && i >= in_turn ? 1 : 0;
        }
        return static_cast<double>(walks) / static_cast<double>(3 * in_turn);
    };
    double before = 0;
    for (std::int64_t in_turn = 32; in_turn <= 8 * kPlaces; in_turn += 32) {
        const double now = misses(in_turn);
        EXPECT_NEAR(now, before, 0.35) << in_turn;
        before = now;
    }
    EXPECT_LT(misses(kPlaces / 8), 0.25);
    EXPECT_GT(misses(8 * kPlaces), 0.9);
}

TEST(PageTranslation, WithoutAWalkEveryPageIsKnown) {
    PageTranslation pages{FabricConfig{.page_walk = 0_ns}};
    EXPECT_EQ(pages.known(0, 100_ns), 100_ns);
    EXPECT_FALSE(pages.has_walked());
}

}  // namespace
}  // namespace tilesim::arch::fabric
