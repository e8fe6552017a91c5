#include "arch/amx/socket/uncore.hpp"

#include <gtest/gtest.h>

#include "arch/amx/socket/uncore_testing.hpp"

namespace tilesim::arch::amx::socket {
namespace {

TEST(Uncore, ALineOfTheL3ArrivesALookupAndAnAnswerAfterItIsAskedFor) {
    Bench bench;
    bench.uncore->warm(5);
    bench.load(0, 5);
    EXPECT_FALSE(bench.uncore->idle());
    EXPECT_EQ(bench.arrivals(0), (Cycles{kHit}));
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_EQ(bench.counters().memory_reads, 0);
}

TEST(Uncore, LinesEnterACoreAtTheWidthOfItsPort) {
    for (const auto& [width, cycles] :
         {std::pair{16, Cycles{0, 8, 16}}, {32, Cycles{0, 4, 8}}, {21, Cycles{0, 7, 13}}}) {
        AmxConfig config = sample();
        config.uncore.port_width = base::BytesPerCycle{width};
        Bench bench(config);
        // Of the slices beside the cores, so that no line needs a link.
        Line line = 0;
        for (int i = 0; i < 3; ++i) {
            line = line_in(bench, 0, line + 1);
            bench.uncore->warm(line);
            bench.load(0, line);
        }
        const Line other = line_in(bench, 1, 0);
        bench.uncore->warm(other);
        bench.load(1, other);
        // 64 B at 21 a cycle of the uncore take 6.1 of a core's: the next comes in the seventh.
        EXPECT_EQ(bench.arrivals(0),
                  (Cycles{kHit + cycles[0], kHit + cycles[1], kHit + cycles[2]}));
        EXPECT_EQ(bench.arrivals(1), (Cycles{kHit}));  // a port of its own
    }
}

// When DRAM alone has read a line that reaches its controllers at `arrival`.
base::Femtoseconds read_at(Line line, base::Femtoseconds arrival) {
    struct Client final : memory::port::MemoryClient {
        void on_memory_complete(std::uint64_t, base::Femtoseconds when) override { done = when; }
        base::Femtoseconds done{0};
    } client;
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::controller::MemorySystem memory(dram(), Uncore::memory_lookahead(sample()), queue,
                                            root);
    memory::port::MemoryRequest request;
    request.address = line * caches::kLineBytes;
    request.bytes = caches::kLineBytes;
    request.client = &client;
    request.arrival = arrival;
    memory.submit(request);
    while (!queue.empty()) {
        queue.run_until(queue.next_time());
    }
    return client.done;
}

TEST(Uncore, ALineThatIsNowhereIsReadFromDramAndAnswered) {
    Bench bench;
    bench.load(0, 5);
    const base::Clock core{sample().clock};
    const base::Femtoseconds asked = core.time_of(base::Cycles{kLookedUp + 2 * 5});
    const std::int64_t there =
        core.first_cycle_from(read_at(5, asked) + core.time_of(base::Cycles{2 * 11})).count();
    EXPECT_EQ(bench.arrivals(0), (Cycles{there}));
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 0);
}

TEST(Uncore, ACoreKnowsThatItsLineComesFromDramOnceTheL3HasMissed) {
    Bench bench;
    bench.load(0, 5);
    EXPECT_EQ(bench.caches(0).level_of(5), Level::L3);
    bench.queue.run_until(base::Clock{sample().clock}.time_of(base::Cycles{kLookedUp}));
    EXPECT_EQ(bench.caches(0).level_of(5), Level::Memory);
}

TEST(Uncore, TheL3TakesACleanLineThatLeavesAnL2AtOnceOrWhenItWasUsedBefore) {
    for (const std::int64_t percent : {0, 100}) {
        AmxConfig config = small_l2();
        config.uncore.clean_percent = percent;
        Bench bench(config, 1);
        // Reads of line 5, each after it has left the L2.
        std::vector<std::int64_t> reads;
        for (std::int64_t i = 0; i < 4; ++i) {
            bench.load(0, 5, 10'000 * (2 * i + 1));
            bench.arrivals(0);
            bench.load(0, 100 + i, 10'000 * (2 * i + 2));
            bench.arrivals(0);
            bench.caches(0).give_up(5);
            reads.push_back(bench.counters().l3_hits);
        }
        using Hits = std::vector<std::int64_t>;
        EXPECT_EQ(reads, percent == 0 ? (Hits{0, 0, 1, 2}) : (Hits{0, 1, 2, 3}));
    }
}

// Forty of a hundred: the third and the fifth.
TEST(Uncore, TheL3TakesItsShareOfLinesNotUsedBeforeEvenly) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 40;
    Bench bench(config, 1);
    std::int64_t cycle = 0;
    const auto read = [&](Line line) {
        bench.caches(0).give_up(line);  // the L1 may have it
        bench.load(0, line, cycle += 10'000);
        bench.arrivals(0);
        return bench.counters().l3_hits;
    };
    for (const Line line : {1, 2, 3, 4, 5, 6}) {
        EXPECT_EQ(read(line), 0);
    }
    EXPECT_EQ(read(4), 0);
    EXPECT_EQ(read(5), 1);
    EXPECT_EQ(read(3), 2);
}

TEST(Uncore, ADirtyLineThatLeavesTheL3IsWrittenToDram) {
    for (const bool dirty : {false, true}) {
        AmxConfig config = small_l2();
        config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
        Bench bench(config, 1);
        bench.caches(0).warm(5, Level::L2, dirty);
        for (const Line line : {6, 7, 8}) {  // 5, 6 and 7 leave the L2, 5 the L3
            bench.caches(0).warm(line, Level::L2, true);
        }
        bench.uncore->collect();
        bench.settle();
        EXPECT_EQ(bench.counters().memory_writes, dirty ? 1 : 0);
        EXPECT_EQ(bench.counters().requests, 0);  // nobody is answered
        EXPECT_TRUE(bench.caches(0).idle());
    }
}

TEST(Uncore, ALineFetchedIntoTheL3IsWaitedForAndThere) {
    Bench bench(sample(), 1);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::Prefetch, 5, kAsked});
    bench.uncore->collect();
    bench.load(0, 5, kAsked + 1);
    EXPECT_EQ(bench.arrivals(0).size(), 1U);
    EXPECT_EQ(bench.counters().prefetches, 1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
    EXPECT_EQ(bench.counters().l3_hits, 1);
}

// Fetched ahead, used once: the L3 does not take it when it leaves the L2.
TEST(Uncore, TheFirstUseOfALineFetchedAheadIsNotItsSecond) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 0;
    Bench bench(config, 1);
    bench.caches(0).outbox().push_back({caches::UncoreRequest::Kind::Prefetch, 5, kAsked});
    bench.uncore->collect();
    bench.settle();
    bench.load(0, 5, 10'000);
    bench.arrivals(0);
    bench.load(0, 100, 20'000);  // drives it out of the L2
    bench.arrivals(0);
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_FALSE(bench.uncore->l3().contains(5));
}

TEST(Uncore, ACleanLineNotUsedBeforeTakesAnEmptyWayOnly) {
    using Kind = caches::UncoreRequest::Kind;
    for (const bool displaces : {false, true}) {
        AmxConfig config = sample();
        config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
        config.uncore.clean_displaces = displaces;
        Bench bench(config, 1);
        const auto leaves = [&bench](Line line, Kind kind) {
            bench.caches(0).outbox().push_back({kind, line, kAsked});
            bench.uncore->collect();
            bench.settle();
            return bench.uncore->l3().contains(line);
        };
        EXPECT_TRUE(leaves(5, Kind::CleanVictim));
        EXPECT_TRUE(leaves(6, Kind::CleanVictim));
        EXPECT_EQ(leaves(7, Kind::CleanVictim), displaces);
        EXPECT_TRUE(leaves(8, Kind::DirtyVictim));
    }
}

// An L2 of one line, an L3 of two in which lines that nobody used take empty ways only.
AmxConfig small_l3() {
    AmxConfig config = small_l2();
    config.uncore.l3 = {base::Bytes{2 * caches::kLineBytes}, 2};
    config.uncore.clean_displaces = false;
    return config;
}

TEST(Uncore, ALineNotUsedBeforeIsTheNextOfItsSetToGo) {
    using Kind = caches::UncoreRequest::Kind;
    for (const Kind comes : {Kind::CleanVictim, Kind::Prefetch}) {
        Bench bench(small_l3(), 1);
        bench.say(0, Kind::DirtyVictim, 6);
        bench.say(0, comes, 5);
        EXPECT_TRUE(bench.uncore->l3().contains(5));
        bench.say(0, Kind::DirtyVictim, 7);
        EXPECT_FALSE(bench.uncore->l3().contains(5));
        EXPECT_TRUE(bench.uncore->l3().contains(6));
    }
}

TEST(Uncore, ALineThatCameFromDramTwiceIsTakenIntoAnEmptyWayOnly) {
    for (const bool full : {false, true}) {
        AmxConfig config = small_l3();
        config.uncore.clean_percent = 0;
        Bench bench(config, 1);
        for (Line line = 6; full && line < 8; ++line) {
            bench.say(0, caches::UncoreRequest::Kind::DirtyVictim, line);
        }
        std::int64_t now = kAsked;
        for (const Line other : {100, 101}) {  // drives 5 out of the L2
            bench.caches(0).give_up(5);        // the L1 may have it
            for (const Line line : {Line{5}, other}) {
                bench.load(0, line, now += 10'000);
                bench.arrivals(0);
            }
            EXPECT_EQ(bench.uncore->l3().contains(5), other == 101 && !full);
        }
    }
}

TEST(Uncore, ALineReadFromDramAnewHasNotBeenUsedSince) {
    using Kind = caches::UncoreRequest::Kind;
    Bench bench(small_l3(), 1);
    bench.uncore->warm(5);
    std::int64_t now = kAsked;
    const auto read = [&](Line line) {
        bench.caches(0).give_up(line);  // the L1 may have it
        bench.load(0, line, now += 10'000);
        bench.arrivals(0);
    };
    read(5);  // takes it out of the L3
    bench.say(0, Kind::DirtyVictim, 6);
    bench.say(0, Kind::DirtyVictim, 7);
    read(100);
    EXPECT_TRUE(bench.uncore->l3().contains(5));  // in the place of 6
    bench.say(0, Kind::DirtyVictim, 8);
    bench.say(0, Kind::DirtyVictim, 9);
    EXPECT_FALSE(bench.uncore->l3().contains(5));
    read(5);
    read(101);
    EXPECT_FALSE(bench.uncore->l3().contains(5));
}

TEST(Uncore, NoAnswerComesSoonerThanACoreMayRunAhead) {
    const Bench bench;
    EXPECT_EQ(bench.uncore->lookahead(), base::Femtoseconds{7 * kNanosecond});
    AmxConfig config = sample();
    config.uncore.lookup = base::Femtoseconds{17 * kNanosecond};
    const Bench slow(config);
    EXPECT_EQ(slow.uncore->lookahead(), base::Femtoseconds{11 * kNanosecond});
}

TEST(Uncore, ACoreThatWaitsBehindAnotherForDramKnowsIt) {
    Bench bench;
    bench.load(0, 5);
    bench.load(1, 5);
    bench.queue.run_until(base::Clock{sample().clock}.time_of(base::Cycles{kLookedUp}));
    EXPECT_EQ(bench.caches(1).level_of(5), Level::Memory);
    bench.settle();
}

TEST(Uncore, WhatIsThereOrOnItsWayIsNotFetchedIntoTheL3) {
    using Kind = caches::UncoreRequest::Kind;
    Bench bench(sample(), 1);
    bench.uncore->warm(5);
    bench.say(0, Kind::Prefetch, 5);
    EXPECT_EQ(bench.counters().prefetches, 0);
    for (int i = 0; i < 2; ++i) {
        bench.caches(0).outbox().push_back({Kind::Prefetch, 6, kAsked});
    }
    bench.uncore->collect();
    bench.settle();
    EXPECT_EQ(bench.counters().prefetches, 1);
    EXPECT_EQ(bench.counters().memory_reads, 1);
}

TEST(Uncore, WhatIsWrittenToDramIsWrittenAndNobodyIsTold) {
    Bench bench(sample(), 1);
    bench.caches(0).stream(5, kAsked);
    bench.uncore->collect();
    bench.settle();
    EXPECT_EQ(bench.memory.totals().bytes_written, caches::kLineBytes);
    EXPECT_EQ(bench.memory.totals().bytes_read, 0);
    EXPECT_EQ(bench.arrivals(0), Cycles{});
    EXPECT_FALSE(bench.caches(0).contains_l2(5));
}

// Lines leave an L2 of one line when the next comes.
TEST(Uncore, ALineUsedInTheL3IsTakenWhenItLeavesAnL2Again) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 50;  // every second one that was not used before
    Bench bench(config, 1);
    std::int64_t cycle = 0;
    const auto read = [&](Line line) {
        bench.caches(0).give_up(line);  // the L1 may have it
        bench.load(0, line, cycle += 10'000);
        bench.arrivals(0);
    };
    read(9);
    read(5);  // 9 leaves: not taken
    read(7);  // 5 leaves: taken
    EXPECT_FALSE(bench.uncore->l3().contains(9));
    EXPECT_TRUE(bench.uncore->l3().contains(5));
    read(5);  // out of the L3; 7 leaves: not taken
    read(8);
    EXPECT_TRUE(bench.uncore->l3().contains(5)) << "its second use";
    EXPECT_EQ(bench.counters().unused_victims, 3);
}

TEST(Uncore, TheUseOfALineFetchedAheadIsItsFirstFetch) {
    using Kind = caches::UncoreRequest::Kind;
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 0;
    Bench bench(config, 1);
    bench.say(0, Kind::Prefetch, 5);
    for (const std::int64_t cycle : {10'000, 30'000}) {  // out of the L3, then out of DRAM
        bench.caches(0).give_up(5);
        bench.load(0, 5, cycle);
        bench.arrivals(0);
        EXPECT_FALSE(bench.uncore->l3().contains(5));
        bench.load(0, 100 + cycle, cycle + 10'000);  // drives it out of the L2
        bench.arrivals(0);
    }
    EXPECT_EQ(bench.counters().l3_hits, 1);
    EXPECT_TRUE(bench.uncore->l3().contains(5)) << "fetched twice";
}

TEST(Uncore, WhatLiesThereBeforeTheStartHasBeenUsed) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 0;
    for (const bool in_l3 : {false, true}) {
        Bench bench(config, 1);
        if (in_l3) {
            bench.uncore->warm(5);
            bench.load(0, 5);
            bench.arrivals(0);
            EXPECT_FALSE(bench.uncore->l3().contains(5));
        } else {
            bench.caches(0).warm(5, Level::L2, false);
            bench.uncore->warm_core(0, 5);
        }
        bench.load(0, 100, 10'000);
        bench.arrivals(0);
        EXPECT_TRUE(bench.uncore->l3().contains(5));
    }
}

TEST(Uncore, ALineThatIsFlushedIsForgotten) {
    AmxConfig config = small_l2();
    config.uncore.clean_percent = 0;
    Bench bench(config, 2);
    bench.uncore->warm(5, true);
    bench.uncore->warm_core(1, 5);
    bench.caches(1).warm(5, Level::L2, false);
    bench.uncore->flush(5);
    EXPECT_FALSE(bench.uncore->l3().contains(5));
    bench.load(0, 5);
    bench.arrivals(0);
    EXPECT_EQ(bench.counters().memory_reads, 1);
    bench.load(0, 100, 10'000);
    bench.arrivals(0);
    EXPECT_FALSE(bench.uncore->l3().contains(5)) << "not used before";
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
