#include <gtest/gtest.h>

#include "arch/amx/socket/uncore.hpp"
#include "arch/amx/socket/uncore_testing.hpp"

namespace tilesim::arch::amx::socket {
namespace {

TEST(Uncore, ASliceGivesALineToOneCoreAfterTheOther) {
    Bench bench(narrow_links(), 3);
    share(bench, 5);
    for (const std::size_t core : {0U, 1U, 2U}) {
        bench.load(core, 5);
    }
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit}));
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + kOnALink}));
    EXPECT_EQ(bench.arrivals(2), (Cycles{kHit + 2 * kOnALink}));
    EXPECT_EQ(bench.counters().kept_waiting, 2);
}

TEST(Uncore, LinesOfAnotherCoreWaitForTheLinksBetween) {
    Bench bench(narrow_links(), 2);
    for (const Line line : {5, 9, 13}) {
        bench.caches(1).warm(line, Level::L2, false);
        bench.uncore->warm_core(1, line);
        bench.load(0, line);
    }
    const std::int64_t first = kHit + 2 * 13;
    EXPECT_EQ(bench.arrivals(0), (Cycles{first, first + kOnALink, first + 2 * kOnALink}));
    EXPECT_EQ(bench.counters().kept_waiting, 2);
}

TEST(Uncore, ALineThatLeavesAnL2TakesItsTimeOfItsSlice) {
    using Kind = caches::UncoreRequest::Kind;
    for (const bool dirty : {false, true}) {
        Bench bench(narrow_links(), 2);
        const Line wanted = line_in(bench, bench.uncore->mesh().slice_of(5), 6);
        share(bench, wanted);
        bench.caches(0).outbox().push_back(
            {dirty ? Kind::DirtyVictim : Kind::CleanVictim, 5, kAsked});
        bench.uncore->collect();
        bench.load(1, wanted);
        EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + kOnALink}));
    }
}

TEST(Uncore, ALineThatLeavesAnL2TakesItsTimeOfTheLinksToItsSlice) {
    Bench bench(narrow_links(), 2);
    const Line far = line_in(bench, 2, 0);  // by core 1
    const Line wanted = line_in(bench, 0, far);
    share(bench, wanted);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::CleanVictim, far, kAsked});
    bench.uncore->collect();
    bench.load(1, wanted);
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + kOnALink}));
}

TEST(Uncore, ADirtyLineThatLeavesTheL3TakesItsTimeOfItsSlice) {
    AmxConfig config = narrow_links();
    config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
    for (const bool dirty : {false, true}) {
        Bench bench(config, 2);
        const std::size_t slice = bench.uncore->mesh().stop_of(1);
        const Line old = line_in(bench, slice, 0), wanted = line_in(bench, slice, old + 1);
        bench.uncore->warm(old, dirty);
        share(bench, wanted);
        const Line comes = line_in(bench, bench.uncore->mesh().stop_of(0), 0);
        bench.caches(0).outbox().push_back(
            {caches::UncoreRequest::Kind::DirtyVictim, comes, kAsked});
        bench.uncore->collect();
        bench.load(1, wanted);
        EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + (dirty ? kOnALink : 0)}));
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
