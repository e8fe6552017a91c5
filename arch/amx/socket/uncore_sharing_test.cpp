#include <gtest/gtest.h>

#include "arch/amx/socket/uncore.hpp"
#include "arch/amx/socket/uncore_testing.hpp"

namespace tilesim::arch::amx::socket {
namespace {

TEST(Uncore, AWrittenLineGoesToItsFirstReaderAndIsInTheL3FromTheSecondOn) {
    Bench bench(sample(), 4);
    bench.caches(0).warm(5, Level::L2, true);
    bench.uncore->warm_core(0, 5);
    bench.load(1, 5);
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + 2 * 13}));
    EXPECT_FALSE(bench.caches(0).contains_l2(5));
    EXPECT_TRUE(bench.caches(1).dirty(5));
    EXPECT_EQ(bench.counters().l3_hits, 0);
    bench.load(2, 5, 10'003);
    EXPECT_EQ(bench.arrivals(2), (Cycles{10'000 + kHit + 2 * 13}));
    EXPECT_TRUE(bench.caches(1).contains_l2(5));  // and keeps it
    EXPECT_FALSE(bench.caches(1).dirty(5));       // which the L3 has to write now
    EXPECT_FALSE(bench.caches(2).dirty(5));
    EXPECT_TRUE(bench.uncore->l3().dirty(5));
    bench.load(3, 5, 20'003);
    EXPECT_EQ(bench.arrivals(3), (Cycles{20'000 + kHit}));
    EXPECT_EQ(bench.counters().from_cores, 2);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, ACleanLineOfAnotherCoreComesFromItAndIsInTheL3Then) {
    Bench bench(sample(), 3);
    bench.caches(1).warm(5, Level::L2, false);
    bench.uncore->warm_core(1, 5);
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit + 2 * 13}));
    EXPECT_TRUE(bench.caches(1).contains_l2(5));
    bench.load(2, 5, 10'003);
    bench.arrivals(2);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, AStoreTakesTheLineFromEveryOtherCore) {
    Bench bench(sample(), 3);
    for (const std::size_t core : {1U, 2U}) {
        bench.caches(core).warm(5, Level::L2, false);
        bench.uncore->warm_core(core, 5);
    }
    bench.uncore->warm(5);
    bench.own(0, 5);
    bench.arrivals(0);
    EXPECT_FALSE(bench.caches(1).contains_l2(5));
    EXPECT_FALSE(bench.caches(2).contains_l2(5));
    bench.load(1, 5, 10'003);  // from core 0, not from the L3
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().from_cores, 1);
}

TEST(Uncore, ALineThatSeveralCoresWaitForIsReadFromDramOnce) {
    Bench bench(sample(), 3);
    for (const std::size_t core : {0U, 1U, 2U}) {
        bench.load(core, 5);
    }
    for (const std::size_t core : {0U, 1U, 2U}) {
        EXPECT_EQ(bench.arrivals(core).size(), 1U);
    }
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 2);
}

TEST(Uncore, ACoreThatIsAloneTakesACleanLineOutOfTheL3) {
    Bench bench(sample(), 2);
    bench.uncore->warm(5);
    bench.load(0, 5);
    bench.arrivals(0);
    bench.load(1, 5, 10'003);
    EXPECT_EQ(bench.arrivals(1), (Cycles{10'000 + kHit + 2 * 13}));
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().from_cores, 1);
}

TEST(Uncore, ALineThatDramWaitsForStaysInTheL3) {
    Bench bench(sample(), 2);
    bench.uncore->warm(5, true);
    bench.load(0, 5);
    bench.arrivals(0);
    bench.load(1, 5, 10'003);
    EXPECT_EQ(bench.arrivals(1), (Cycles{10'000 + kHit}));
    EXPECT_EQ(bench.counters().l3_hits, 2);
    EXPECT_EQ(bench.counters().from_cores, 0);
}

// A clean line leaves its core unsaid.
TEST(Uncore, ALineThatItsCoreHasNoLongerIsReadFromDram) {
    Bench bench(sample(), 2);
    bench.uncore->warm_core(1, 5);
    bench.load(0, 5);
    bench.arrivals(0);
    EXPECT_EQ(bench.counters().from_cores, 0);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

TEST(Uncore, AStorePastTheCachesIsWrittenToDramAndStaysNowhere) {
    Bench bench(sample(), 2);
    bench.uncore->warm(5);
    bench.caches(1).warm(5, Level::L2, true);
    bench.uncore->warm_core(1, 5);
    bench.caches(0).stream(5, kAsked);
    bench.uncore->collect();
    bench.settle();
    EXPECT_EQ(bench.counters().memory_writes, 1);
    EXPECT_FALSE(bench.caches(1).contains_l2(5));
    bench.load(1, 5, 10'003);
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

TEST(Uncore, ALineOfACoreIsNotFetchedIntoTheL3) {
    Bench bench(sample(), 2);
    bench.caches(1).warm(5, Level::L2, false);
    bench.uncore->warm_core(1, 5);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::Prefetch, 5, kAsked});
    bench.uncore->collect();
    bench.settle();
    EXPECT_EQ(bench.counters().prefetches, 0);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, AStoreTakesTheLineFromAllWhoHaveReadIt) {
    // Read out of the L3, which has to write it and keeps it; one from another; both from DRAM.
    for (const int from : {0, 1, 2}) {
        Bench bench(sample(), 3);
        if (from == 0) {
            bench.uncore->warm(5, true);
        } else if (from == 1) {
            bench.caches(1).warm(5, Level::L2, false);
            bench.uncore->warm_core(1, 5);
        }
        for (const std::size_t core : {0U, 1U}) {
            bench.load(core, 5, from == 2 ? kAsked : 10'000 * static_cast<std::int64_t>(core + 1));
            if (from != 2) {
                bench.arrivals(core);
            }
        }
        bench.arrivals(0);
        bench.arrivals(1);
        EXPECT_TRUE(bench.caches(0).contains_l2(5));
        EXPECT_TRUE(bench.caches(1).contains_l2(5));
        bench.own(2, 5);
        bench.arrivals(2);
        EXPECT_FALSE(bench.caches(0).contains_l2(5)) << from;
        EXPECT_FALSE(bench.caches(1).contains_l2(5)) << from;
        EXPECT_FALSE(bench.uncore->l3().contains(5)) << from;
    }
}

TEST(Uncore, AStoreTakesTheLineOutOfTheL3ThatHasToWriteIt) {
    Bench bench(sample(), 1);
    bench.uncore->warm(5, true);
    bench.own(0, 5);
    bench.arrivals(0);
    EXPECT_FALSE(bench.uncore->l3().contains(5));
}

TEST(Uncore, AStoreTakesACleanLineFromItsOnlyCoreCleanAndForTheSecondTime) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 0;
    Bench bench(config, 2);
    bench.load(1, 5);
    bench.arrivals(1);
    bench.own(0, 5);
    bench.arrivals(0);
    EXPECT_TRUE(bench.caches(0).contains_l2(5));
    EXPECT_EQ(bench.counters().from_cores, 1);
    EXPECT_FALSE(bench.caches(1).has_or_awaits(5));
    EXPECT_FALSE(bench.caches(0).dirty(5));
    bench.load(0, 100, 10'000);  // drives it out of the L2
    bench.arrivals(0);
    EXPECT_TRUE(bench.uncore->l3().contains(5)) << "it has been used before";
}

// The L3 has room for two lines.
TEST(Uncore, ALineThatSeveralHaveAndTheL3HasLostComesFromDram) {
    for (const bool writes : {false, true}) {
        AmxConfig config = sample();
        config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
        Bench bench(config, 3);
        share(bench, 5);
        for (const std::size_t core : {0U, 1U}) {
            bench.caches(core).warm(5, Level::L2, false);
        }
        bench.uncore->warm(6);
        bench.uncore->warm(7);
        if (writes) {
            bench.own(2, 5);
        } else {
            bench.load(2, 5);
        }
        bench.arrivals(2);
        EXPECT_TRUE(bench.caches(2).contains_l2(5));
        EXPECT_EQ(bench.counters().memory_reads, 1);
        for (const std::size_t core : {0U, 1U}) {
            EXPECT_EQ(bench.caches(core).contains_l2(5), !writes);
        }
    }
}

// Lines leave an L2 of one line when the next comes.
TEST(Uncore, ALineFetchedAheadIsUsedFromItsSecondUseOn) {
    Bench bench(small_l2(), 1);
    bench.say(0, caches::UncoreRequest::Kind::Prefetch, 5);
    std::int64_t cycle = 0;
    for (const Line line : {5, 100, 5, 101}) {
        bench.caches(0).give_up(line);  // the L1 may have it
        bench.load(0, line, cycle += 10'000);
        bench.arrivals(0);
    }
    EXPECT_EQ(bench.counters().l3_hits, 2);
    EXPECT_EQ(bench.counters().unused_victims, 2);  // 5, 100; not 5 once more
}

TEST(Uncore, ACoreThatLostItsLineUnsaidReadsItAgain) {
    Bench bench(sample(), 2);
    bench.load(0, 5);
    bench.arrivals(0);
    bench.caches(0).give_up(5);
    bench.load(0, 5, 10'000);
    bench.arrivals(0);
    EXPECT_EQ(bench.counters().memory_reads, 2);
    EXPECT_EQ(bench.counters().from_cores, 0);
    bench.caches(0).give_up(5);
    bench.uncore->warm(5);
    bench.load(0, 5, 20'000);
    bench.arrivals(0);
    EXPECT_FALSE(bench.uncore->l3().contains(5)) << "nobody else has it";
    bench.uncore->warm_core(0, 5);  // once more: still one core
    bench.load(1, 5, 30'000);
    bench.arrivals(1);
    EXPECT_EQ(bench.counters().from_cores, 1);
}

TEST(Uncore, ALineWrittenAnewGoesToItsFirstReaderAgain) {
    Bench bench(sample(), 2);
    bench.caches(0).warm(5, Level::L2, true);
    bench.uncore->warm_core(0, 5);
    bench.load(1, 5);
    bench.arrivals(1);
    bench.caches(1).give_up(5);
    bench.own(0, 5);  // from DRAM
    bench.arrivals(0);
    EXPECT_TRUE(bench.caches(0).commit(5));
    bench.load(1, 5, 10'000);
    bench.arrivals(1);
    EXPECT_TRUE(bench.caches(1).dirty(5));
    EXPECT_FALSE(bench.caches(0).has_or_awaits(5));
}

TEST(Uncore, ALineThatLeftItsCoreIsNobodysAndMayBeFetchedAhead) {
    using Kind = caches::UncoreRequest::Kind;
    for (const Kind leaves : {Kind::CleanVictim, Kind::Stream}) {
        AmxConfig config = sample();
        config.uncore.clean_percent = 0;
        Bench bench(config, 2);
        bench.load(0, 5);
        bench.arrivals(0);
        bench.say(0, leaves, 5);
        bench.say(1, Kind::Prefetch, 5);
        EXPECT_EQ(bench.counters().prefetches, 1);
    }
    AmxConfig config = sample();
    config.uncore.clean_displaces = false;
    config.uncore.l3 = {base::Bytes{caches::kLineBytes}, 1};
    Bench bench(config, 3);
    bench.uncore->warm(6);  // no room for a line not used before
    bench.caches(1).warm(5, Level::L2, false);
    bench.uncore->warm_core(1, 5);
    bench.say(0, Kind::CleanVictim, 5);  // core 1 has it since
    bench.say(2, Kind::Prefetch, 5);
    EXPECT_EQ(bench.counters().prefetches, 0);
}

// Core 0 for a member whose lines lie 100 further on, core 1 for itself; lines above 50 are common.
Bench in_step(const AmxConfig& config = sample()) {
    return Bench(config, 2,
                 {{0, true, Displacement{}},
                  {0, false, Displacement{{{0, 50, 100}}}},
                  {1, true, Displacement{}}});
}

TEST(Uncore, ACoreGoesByTheAnswerToItsOwnLineAndTheOthersLineIsTakenToo) {
    Bench bench = in_step();
    bench.uncore->warm(5);  // the other's comes from DRAM, later
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit}));
    EXPECT_EQ(bench.counters().requests, 2);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

TEST(Uncore, ALineThatTwoInStepShareIsReadOnceAndLeftForAll) {
    Bench bench = in_step();
    bench.load(0, 60);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 1);  // the other, which has waited
    bench.load(1, 60);
    EXPECT_EQ(bench.arrivals(1).size(), 1U);
    EXPECT_EQ(bench.counters().l3_hits, 2);
}

TEST(Uncore, CoresInStepAreFirstInTurn) {
    for (const Line line : {60, 61}) {
        Bench bench = in_step(narrow_links());
        share(bench, line);
        bench.load(0, line);
        EXPECT_EQ(bench.arrivals(0), (Cycles{kHit + line % 2 * kOnALink}));
    }
}

TEST(Uncore, ALineOfACoreThatIsNotSimulatedComesFromWhereTheOneInItsPlaceHasIts) {
    Bench bench = in_step();
    bench.load(0, 5);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    bench.load(1, 105);
    EXPECT_EQ(bench.arrivals(1).size(), 1U);
    EXPECT_EQ(bench.counters().from_cores, 1);
    EXPECT_TRUE(bench.caches(0).contains_l2(5));
}

TEST(Uncore, AStoreInOneStepTakesTheLineFromNoneInItsPlace) {
    Bench bench = in_step();
    bench.caches(0).warm(5, Level::L2, true);  // the other's is 105
    bench.uncore->warm_core(1, 105);
    bench.load(1, 105);
    EXPECT_EQ(bench.arrivals(1), (Cycles{kHit + 2 * 13}));
    EXPECT_TRUE(bench.caches(1).dirty(105));
    EXPECT_TRUE(bench.caches(0).dirty(5));  // its own is still there
}

TEST(Uncore, LinesBeforeTheStartAreThoseOfAllInStep) {
    Bench bench = in_step();
    bench.uncore->warm_victim(0, 5, true);
    bench.uncore->warm_victim(1, 7, false);
    for (const Line line : {5, 105, 7}) {
        EXPECT_TRUE(bench.uncore->l3().contains(line));
        EXPECT_EQ(bench.uncore->l3().dirty(line), line != 7);
    }
    EXPECT_FALSE(bench.uncore->l3().contains(107));
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
