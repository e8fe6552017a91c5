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

// Asked for when it is there.
base::Femtoseconds known(PageTranslation& pages, std::int64_t address, base::Femtoseconds from) {
    return pages.known(address, from, from);
}

TEST(PageTranslation, AnUnknownPageTakesAWalkAndAKnownOneNothing) {
    PageTranslation pages = table(512);
    EXPECT_EQ(known(pages, 0, 100_ns), 100_ns + kWalk);
    EXPECT_EQ(known(pages, kPageBytes - 1, 200_ns), 200_ns);
    EXPECT_EQ(known(pages, kPageBytes, 300_ns), 300_ns + kWalk);
}

TEST(PageTranslation, ThoseWhoAskDuringAWalkWaitForItsEnd) {
    PageTranslation pages = table(512);
    known(pages, 0, 100_ns);
    EXPECT_EQ(known(pages, 8, 110_ns), 100_ns + kWalk);
    EXPECT_EQ(known(pages, 8, 100_ns + kWalk), 100_ns + kWalk);
}

TEST(PageTranslation, WalksFollowEachOther) {
    PageTranslation pages = table(512);
    known(pages, 0, 100_ns);
    EXPECT_EQ(known(pages, kPageBytes, 105_ns), 100_ns + kWalk * 2);
    EXPECT_EQ(known(pages, 2 * kPageBytes, 100_ns + kWalk * 2), 100_ns + kWalk * 3);
}

// Reads far back in the line of the link are known of before a write that need not wait.
TEST(PageTranslation, WhoComesFirstIsServedFirstWhoeverIsKnownOfFirst) {
    PageTranslation pages = table(512);
    const auto at = [&pages](std::int64_t page, base::Femtoseconds from, base::Femtoseconds now) {
        return pages.known(page * kPageBytes, from, now);
    };
    EXPECT_EQ(at(0, 4'000_ns, 90_ns), 4'000_ns + kWalk);
    EXPECT_EQ(at(1, 100_ns, 95_ns), 100_ns + kWalk);
    EXPECT_EQ(at(2, 105_ns, 95_ns), 100_ns + kWalk * 2);
    // No room is left before the walk to page 0: this one goes behind it, the last before it.
    EXPECT_EQ(at(3, 4'001_ns - kWalk, 95_ns), 4'000_ns + kWalk * 2);
    EXPECT_EQ(at(4, 4'000_ns - kWalk, 95_ns), 4'000_ns);
    EXPECT_EQ(at(5, 3'999_ns - kWalk, 95_ns), 4'000_ns + kWalk * 3);
}

TEST(PageTranslation, NoWalkHasRoomBetweenTwoThatOneHasJoined) {
    PageTranslation pages = table(512);
    const auto at = [&pages](std::int64_t page, base::Femtoseconds from) {
        return pages.known(page * kPageBytes, from, 90_ns);
    };
    at(0, 4'000_ns);
    at(1, 4'050_ns);
    EXPECT_EQ(at(2, 4'020_ns), 4'020_ns + kWalk);  // too little is left on both sides of it
    EXPECT_EQ(at(3, 4'040_ns), 4'050_ns + kWalk * 2);
    EXPECT_EQ(at(4, 4'010_ns), 4'050_ns + kWalk * 3);
}

// Whichever of the two is known of first.
TEST(PageTranslation, AWalkFitsBetweenTwoThatLeaveNoMoreThanItsTime) {
    for (const bool later_first : {false, true}) {
        PageTranslation pages = table(512);
        const auto at = [&pages](std::int64_t page, base::Femtoseconds from) {
            return pages.known(page * kPageBytes, from, 90_ns);
        };
        at(0, later_first ? 4'000_ns + kWalk * 2 : 4'000_ns);
        at(1, later_first ? 4'000_ns : 4'000_ns + kWalk * 2);
        EXPECT_EQ(at(2, 4'000_ns + kWalk), 4'000_ns + kWalk * 2);
    }
}

TEST(PageTranslation, APageThatAnotherHasDisplacedIsWalkedToAgain) {
    PageTranslation pages = table(1);
    known(pages, 0, 100_ns);
    EXPECT_FALSE(pages.has_walked_again());
    known(pages, kPageBytes, 200_ns);
    EXPECT_TRUE(pages.has_walked_again());
    EXPECT_EQ(known(pages, 0, 300_ns), 300_ns + kWalk);
}

TEST(PageTranslation, OfFourPagesTheOneNotAskedForLongestMakesRoom) {
    PageTranslation pages = table(4);  // one set
    base::Femtoseconds now{0};
    const auto walked = [&](std::int64_t page) {
        now += 1'000_ns;
        return known(pages, page * kPageBytes, now) > now;
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

// Not even for one that was known of first, and is there later.
TEST(PageTranslation, WithoutWalksNobodyWaits) {
    FabricConfig config;
    config.page_walk = 0_ns;
    PageTranslation pages(config);
    EXPECT_EQ(pages.known(0, 100_ns, 0_ns), 100_ns);
    EXPECT_EQ(pages.known(0, 50_ns, 0_ns), 50_ns);
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
            count += known(pages, of_one_set[i % in_turn] * kPageBytes, now) > now ? 1 : 0;
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
            const bool walked = known(pages, i % in_turn * kPageBytes, now) > now;
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
    EXPECT_EQ(known(pages, 0, 100_ns), 100_ns);
    EXPECT_FALSE(pages.has_walked());
}

}  // namespace
}  // namespace tilesim::arch::fabric
