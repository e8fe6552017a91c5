#include "arch/amx/core/translation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilesim::arch::amx::core {
namespace {

constexpr caches::Line kPage = caches::kLinesPerPage;

PageConfig sample() {
    PageConfig config;
    config.scattered = false;
    config.first = {base::Bytes{4 * 64}, 4, 0};  // one set of four entries
    config.second = {base::Bytes{8 * 64}, 8, 0};
    config.second_latency = base::Cycles{7};
    config.walk = base::Cycles{19};
    config.walk_loads = 1;
    return config;
}

struct Bench {
    explicit Bench(const PageConfig& config = sample()) : pages(config, caches) {}

    PrivateCacheConfig numbers;
    caches::PrivateCaches caches{numbers, base::Hertz{1'000'000'000}};
    Translation pages;

    // The cycle from `now` on in which the line may be accessed.
    std::int64_t ready_from(caches::Line line, std::int64_t now) {
        std::vector<caches::PrivateCaches::Arrival> here;
        while (!pages.ready(line, now)) {
            ++now;
            here.clear();
            caches.advance(now, here);
            for (const auto& arrival : here) {
                pages.arrive(arrival.waiter, now);
            }
        }
        return now;
    }
};

TEST(Translation, APageOfTheSecondTlbIsReadyItsLatencyLater) {
    Bench bench;
    bench.pages.warm(0, kPage);
    EXPECT_EQ(bench.ready_from(5, 100), 100 + 7);
    EXPECT_EQ(bench.ready_from(6, 200), 200);  // known since
    EXPECT_EQ(bench.pages.walks(), 0);
}

TEST(Translation, AWalkLoadsALineOfTheTablesFromTheCaches) {
    Bench bench;
    bench.pages.warm(0, 20 * kPage);  // tables in the L2; the second TLB keeps the last eight
    const std::int64_t l2 = bench.numbers.l2_latency.count();
    EXPECT_EQ(bench.ready_from(0, 100), 100 + l2 + 7 + 19);
    EXPECT_EQ(bench.pages.walks(), 1);
    // The next page's entry lies in the same line, which is in the L1 now.
    EXPECT_EQ(bench.ready_from(kPage, 200), 200 + bench.numbers.l1_latency.count() + 7 + 19);
}

TEST(Translation, TheSecondTlbKeepsAPageThatWasWalkedFor) {
    Bench bench;
    bench.pages.warm(0, 20 * kPage);
    bench.ready_from(0, 100);
    for (caches::Line page = 16; page < 20; ++page) {  // as many as the first TLB has
        bench.ready_from(page * kPage, 200 + 10 * page);
    }
    EXPECT_EQ(bench.ready_from(0, 500), 500 + 7);
    EXPECT_EQ(bench.pages.walks(), 1);
}

TEST(Translation, AWalkThatFoundNoFillBufferTakesTheNextBeforeTheProgram) {
    for (const bool again : {false, true}) {
        PrivateCacheConfig config;
        config.fill_buffers = 1;
        caches::PrivateCaches caches(config, base::Hertz{1'000'000'000});
        Translation pages(sample(), caches);
        caches.warm(3, caches::Level::L2, false);
        caches.load(3, 0, 0, true);
        EXPECT_FALSE(pages.ready(5 * kPage, 1));
        std::vector<caches::PrivateCaches::Arrival> here;
        caches.advance(config.l2_latency.count(), here);
        ASSERT_EQ(here.size(), 1U);
        if (again) {
            pages.ask_again(config.l2_latency.count());
        }
        using Outcome = caches::PrivateCaches::Outcome;
        EXPECT_EQ(caches.load(4, config.l2_latency.count(), 0, true),
                  again ? Outcome::NoBuffer : Outcome::Waiting);
    }
}

TEST(Translation, ScatteredFramesKeepTheLineOfThePageAndNeverMeet) {
    const caches::PageMap map(true);
    std::vector<caches::Line> frames;
    for (caches::Line page = 0; page < 1000; ++page) {
        const caches::Line line = map.physical(page * kPage + 11);
        EXPECT_EQ(line % kPage, 11);
        frames.push_back(line / kPage);
    }
    std::sort(frames.begin(), frames.end());
    EXPECT_EQ(std::adjacent_find(frames.begin(), frames.end()), frames.end());
    EXPECT_EQ(caches::PageMap(false).physical(12345), 12345);
}

PageConfig short_walks(std::int64_t loads) {
    PageConfig config = sample();
    config.second_latency = base::Cycles{1};
    config.walk = base::Cycles{2};
    config.walk_loads = loads;
    return config;
}

TEST(Translation, AWalkIsNotOverBeforeItsLineIsThere) {
    Bench bench(short_walks(1));
    bench.pages.warm(0, 20 * kPage);
    EXPECT_TRUE(bench.pages.quiet());
    const std::int64_t l2 = bench.numbers.l2_latency.count();
    EXPECT_EQ(bench.ready_from(0, 100), 100 + l2 + 1 + 2);
    EXPECT_EQ(bench.pages.misses(), 1);
    EXPECT_TRUE(bench.pages.quiet());
}

TEST(Translation, AWalkWaitsForAWalkerWhereAllAreBusy) {
    for (const std::int64_t loads : {0, 1}) {
        PageConfig config = short_walks(loads);
        config.walkers = 2;
        Bench bench(config);
        bench.pages.warm(0, 40 * kPage);  // tables in the L2; the second TLB has the last eight
        const std::int64_t walk = 1 + 2 + loads * bench.numbers.l2_latency.count();
        for (const caches::Line page : {0, 8, 16, 24}) {  // each of a line of its own
            EXPECT_FALSE(bench.pages.ready(page * kPage, 100));
        }
        EXPECT_EQ(bench.pages.walks(), 4);
        EXPECT_EQ(bench.pages.queued(), 2);
        std::vector<std::int64_t> at;
        for (std::int64_t now = 100; at.size() < 4; ++now) {
            std::vector<caches::PrivateCaches::Arrival> here;
            bench.caches.advance(now, here);
            for (const auto& arrival : here) {
                bench.pages.arrive(arrival.waiter, now);
            }
            bench.pages.ask_again(now);
            if (bench.pages.ready(static_cast<caches::Line>(at.size()) * 8 * kPage, now)) {
                at.push_back(now--);
            }
            ASSERT_LT(now, 200);
        }
        EXPECT_EQ(at[0], 100 + walk);
        EXPECT_EQ(at[1], 100 + walk + loads);  // lines arrive one after the other
        // The second TLB was asked while they waited, or is asked beside a walk's load.
        const std::int64_t next = loads == 0 ? 2 : walk;
        EXPECT_EQ(at[2], at[0] + next);
        EXPECT_EQ(at[3], at[1] + next);
    }
}

TEST(Translation, OfTwoWalksEachWaitsForItsOwnLine) {
    Bench bench(short_walks(1));
    EXPECT_FALSE(bench.pages.ready(0, 100));
    EXPECT_FALSE(bench.pages.ready(100 * kPage, 100));
    ASSERT_EQ(bench.caches.outbox().size(), 2U);
    EXPECT_FALSE(bench.pages.quiet());
    EXPECT_EQ(bench.pages.next_event(), caches::kUnknownCycle);
    bench.caches.deliver(bench.caches.outbox()[1].line, 131);
    EXPECT_EQ(bench.ready_from(100 * kPage, 100), 131 + 1 + 2);
    EXPECT_FALSE(bench.pages.ready(0, 200));
    bench.caches.deliver(bench.caches.outbox()[0].line, 211);
    EXPECT_EQ(bench.ready_from(0, 200), 211 + 1 + 2);
}

TEST(Translation, TheNextEventIsTheEndOfTheFirstWait) {
    Bench bench;
    bench.pages.warm(0, 2 * kPage);
    EXPECT_EQ(bench.pages.next_event(), caches::kUnknownCycle);
    EXPECT_FALSE(bench.pages.ready(0, 100));
    EXPECT_FALSE(bench.pages.ready(kPage, 103));
    EXPECT_EQ(bench.pages.next_event(), 100 + 7);
    EXPECT_TRUE(bench.pages.ready(0, 107));
    EXPECT_EQ(bench.pages.next_event(), 103 + 7);
}

TEST(Translation, OnlyThePagesOfTheRangeAreKnownBeforeTheStart) {
    Bench bench;
    bench.pages.warm(0, kPage);
    bench.pages.ready(kPage, 100);
    EXPECT_EQ(bench.pages.walks(), 1);
}

// A line of a table has the entries of eight pages.
TEST(Translation, EachLevelHasATableOfItsOwnBeyondAllData) {
    Bench bench(short_walks(2));
    for (const caches::Line page : {0, 8, 16}) {
        EXPECT_FALSE(bench.pages.ready(page * kPage, 100));
    }
    std::vector<caches::Line> lines;
    for (const caches::UncoreRequest& request : bench.caches.outbox()) {
        lines.push_back(request.line);
        EXPECT_GE(request.line, caches::Line{1} << 30);  // 64 GiB
    }
    ASSERT_EQ(lines.size(), 6U);
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(std::adjacent_find(lines.begin(), lines.end()), lines.end());
}

}  // namespace
}  // namespace tilesim::arch::amx::core
