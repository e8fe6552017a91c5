#include "arch/amx/core/load_unit.hpp"

#include <gtest/gtest.h>

#include "arch/amx/core/load_unit_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

TEST(LoadUnit, AWalksLoadTakesAFillBufferBeforeOlderLoads) {
    AmxConfig config = load_unit_sample();
    config.pages.walk_loads = 1;
    config.caches.fill_buffers = 1;
    LoadBench bench("vmovups zmm0, [0x100000]\nvmovups zmm1, [0x200000]\n", config);
    bench.run(5);
    ASSERT_EQ(bench.caches.outbox().size(), 1U);  // of the first page's walk
    bench.caches.deliver(bench.caches.outbox()[0].line, 11);
    bench.run(10);
    EXPECT_EQ(bench.caches.outbox().size(), 1U);
    bench.run(11);
    EXPECT_EQ(bench.caches.outbox().size(), 2U);  // the second's, not the line of the first load
}

TEST(LoadUnit, ATileLoadTakesItsLinesAtTheWidthOfThePorts) {
    for (const std::int64_t width : {1, 2, 3}) {
        AmxConfig config = load_unit_sample();
        config.access.load_lines = width;
        LoadBench bench("tileloadd tmm0, [0x1000], 64\ntileloadd tmm1, [0x1400], 64\n", config);
        bench.run(60);
        // From cycle 1 on; the last line 5 cycles later, the tile 31 after it.
        EXPECT_EQ(bench.result(0), 1 + 15 / width + 5 + 31) << width;
        EXPECT_EQ(bench.result(1), 1 + 31 / width + 5 + 31) << width;
        EXPECT_EQ(bench.window.at(bench.ids[0]).done_at, bench.result(0));
    }
}

TEST(LoadUnit, APrefetchHasAPortOfItsOwnWhereThereIsOne) {
    const auto tile = [](bool port, const char* first) {
        AmxConfig config = load_unit_sample();
        config.access.prefetch_port = port;
        LoadBench bench(std::string{first} + "tileloadd tmm0, [0x1000], 64\n", config);
        bench.run(60);
        return bench.result(bench.ids.size() - 1);
    };
    const std::int64_t alone = 1 + 15 / 2 + 5 + 31;
    const char* const two = "prefetcht0 [0x100]\nprefetcht0 [0x140]\n";
    EXPECT_EQ(tile(false, two), alone + 1);
    // The second, older than the tile, takes one of the lines' slots in the first cycle.
    EXPECT_EQ(tile(true, "prefetcht0 [0x100]\n"), alone);
    EXPECT_EQ(tile(true, two), 1 + 16 / 2 + 5 + 31);
}

TEST(LoadUnit, TwoPrefetchesACycleGoWhereTheyHaveAPort) {
    for (const bool port : {false, true}) {
        AmxConfig config = load_unit_sample();
        config.access.load_lines = 3;
        config.access.prefetch_port = port;
        std::string text;
        for (int i = 0; i < 6; ++i) {
            text += "prefetcht0 [0x100]\n";
        }
        LoadBench bench(text, config);
        bench.run(10);
        EXPECT_EQ(bench.result(2), (port ? 2 : 1) + 1);
        EXPECT_EQ(bench.result(5), (port ? 3 : 2) + 1);
    }
}

TEST(LoadUnit, ALineThatEntersTheL1KeepsNoPrefetchFromItsPort) {
    for (const bool port : {false, true}) {
        AmxConfig config = load_unit_sample();
        config.access.prefetch_port = port;
        config.caches.fill_percent = 300;
        LoadBench bench("prefetcht0 [0x100]\n", config);
        bench.ids.push_back(bench.enter(0, 1, 16));
        bench.loads.fill(1, false);
        bench.run(10);
        EXPECT_EQ(bench.result(0), (port ? 1 : 4) + 1);
    }
}

TEST(LoadUnit, ATileOfFewerRowsTakesFewerLines) {
    LoadBench bench("tileloadd tmm0, [0x1000], 64\n");
    bench.run(20, 7);
    EXPECT_EQ(bench.result(0), 1 + 6 / 2 + 5 + 31);
}

TEST(LoadUnit, RowsThatDoNotStartOnALineTakeTwo) {
    LoadBench bench("tileloadd tmm0, [0x1020], 64\n");
    bench.run(30);
    EXPECT_EQ(bench.result(0), 1 + 31 / 2 + 5 + 31);
    const Entry& entry = bench.window.at(bench.ids[0]);
    EXPECT_EQ(LoadUnit::line_of(entry, 0), 0x1000 / 64);
    EXPECT_EQ(LoadUnit::line_of(entry, 1), 0x1000 / 64 + 1);
    EXPECT_EQ(LoadUnit::line_of(entry, 2), 0x1000 / 64 + 1);
}

TEST(LoadUnit, ANontemporalLoadTakesALineEverySoManyCyclesAndPausesAtItsEnd) {
    LoadBench bench(
        "tileloaddt1 tmm0, [0x1000], 64\ntileloaddt1 tmm1, [0x1400], 64\n"
        "tileloadd tmm2, [0x1800], 64\n");
    bench.run(150);
    const std::int64_t last = 1 + 15 * 3;
    EXPECT_EQ(bench.result(0), last + 5 + 13);
    EXPECT_EQ(bench.result(1), last + 3 + 7 + 15 * 3 + 5 + 13);
    // The slots it leaves go to younger loads: one of two in every third cycle, both in the others.
    EXPECT_EQ(bench.result(2), 10 + 5 + 31);
}

TEST(LoadUnit, ANontemporalLoadLeavesTheL1Alone) {
    const std::string text = "tileloaddt1 tmm0, [0x100000], 64\n";
    LoadBench bench(text);
    bench.run(150);
    EXPECT_FALSE(bench.caches.contains_l1(caches::line_at(kCold)));
    AmxConfig config = load_unit_sample();
    config.access.nontemporal_fills_l1 = true;
    LoadBench fills(text, config);
    fills.run(150);
    EXPECT_TRUE(fills.caches.contains_l1(caches::line_at(kCold)));
}

TEST(LoadUnit, ATileIsThereSoLongAfterItsLastLine) {
    LoadBench bench("tileloadd tmm0, [0x100000], 64\n");
    bench.run(80);
    // Two lines a cycle are asked for in cycles 1 to 8; from 1 + 17 on three of four cycles bring
    // one: the 16th starts 15 * 4/3 = 20 cycles later.
    EXPECT_EQ(bench.result(0), 1 + 17 + 20 + 31);
}

TEST(LoadUnit, AVectorLoadFollowsItsLine) {
    for (const std::string form : {"vmovups zmm1, [", "vbroadcastss zmm1, ["}) {
        LoadBench bench(form + "0x1000]\n" + form + "0x100000]\n");
        bench.run(40);
        EXPECT_EQ(bench.result(0), 1 + 5 + 2) << form;
        EXPECT_EQ(bench.result(1), 1 + 17 + 2) << form;
    }
}

TEST(LoadUnit, AGeneralRegisterHasItsLineAtOnceAndAChainWaitsForTheLoadBefore) {
    LoadBench bench("shuffle order 0x1000 4 64\nloop i 2\nmov r1, [order[i]]\nend\n");
    bench.run(40);
    EXPECT_EQ(bench.result(0), 1 + 5);
    EXPECT_EQ(bench.result(2), 1 + 5 + 5);  // behind the loop's counter
}

TEST(LoadUnit, ALineThatComesIntoTheL1KeepsLoadsWaiting) {
    LoadBench bench("vmovups zmm1, [0x1000]\nvmovups zmm2, [0x1040]\nvmovups zmm3, [0x1080]\n", [] {
        AmxConfig config = load_unit_sample();
        config.caches.fill_percent = 200;
        return config;
    }());
    bench.loads.fill(1, false);  // two cycles, all slots of both
    bench.run(20);
    EXPECT_EQ(bench.result(0), 3 + 5 + 2);
    EXPECT_EQ(bench.result(1), 3 + 5 + 2);
    EXPECT_EQ(bench.result(2), 4 + 5 + 2);
}

TEST(LoadUnit, ADirtyLineThatMakesRoomTakesASlotMore) {
    AmxConfig config = load_unit_sample();
    config.caches.fill_percent = 200;
    LoadBench bench("vmovups zmm1, [0x1000]\nvmovups zmm2, [0x1040]\n", config);
    bench.loads.fill(1, true);  // two cycles and one of the next one's two slots
    bench.run(20);
    EXPECT_EQ(bench.result(0), 3 + 5 + 2);
    EXPECT_EQ(bench.result(1), 4 + 5 + 2);
}

// The first load's line comes in cycle 18. The second, of the L1, is ready in the next.
TEST(LoadUnit, ALoadThatMissedIsReplayedButATileTakesItsRowsAsTheyCome) {
    for (const bool tile : {false, true}) {
        AmxConfig config = load_unit_sample();
        config.access.replay_percent = 300;
        LoadBench bench((tile ? "tileloadd tmm0, [0x100000], 64\n" : "vmovups zmm1, [0x100000]\n") +
                            std::string{"vmovups zmm2, [0x1000]\n"},
                        config);
        bench.ids.push_back(bench.enter(0, 1, 1));
        while (bench.now <= 1 + 17) {
            bench.step();
            ++bench.now;
        }
        EXPECT_EQ(bench.result(0), 1 + 17 + (tile ? 31 : 2));
        bench.run(40);
        EXPECT_EQ(bench.result(1), (tile ? 18 + 1 : 18 + 3) + 5 + 2);
    }
}

// The first row comes from the L2 in cycle 18; the last, of the L1, is read in 16.
TEST(LoadUnit, ATileIsThereWithItsLastLineThoughAnotherComesAfterThatWasRead) {
    AmxConfig config = load_unit_sample();
    config.access.load_lines = 1;
    LoadBench bench("tileloadd tmm0, [0x100000], 64\n", config);
    for (caches::Line row = 1; row < 16; ++row) {
        bench.caches.warm(caches::line_at(kCold) + row, caches::Level::L1, false);
    }
    bench.run(40);
    EXPECT_EQ(bench.result(0), 16 + 5 + 31);
}

TEST(LoadUnit, ALoadWaitsForItsPageAndYoungerOnesGoOn) {
    AmxConfig config = load_unit_sample();
    config.pages.second_latency = base::Cycles{7};
    LoadBench bench("vmovups zmm1, [0x3000]\nvmovups zmm2, [0x1040]\n", config);
    bench.pages.warm(caches::line_at(0x1000), caches::line_at(0x4000));
    while (!bench.pages.ready(caches::line_at(0x1000), bench.now)) {
        ++bench.now;
    }
    const std::int64_t start = bench.now;
    bench.run(start + 40);
    EXPECT_EQ(bench.result(0), start + 7 + 5 + 2);
    EXPECT_EQ(bench.result(1), start + 5 + 2);
}

TEST(LoadUnit, APageThatAnotherDroveOutIsLookedUpAgain) {
    AmxConfig config = load_unit_sample();
    config.pages.first = {base::Bytes{2 * caches::kLineBytes}, 2, 0};  // two pages
    config.pages.second_latency = base::Cycles{7};
    config.caches.fill_percent = 10'000;
    LoadBench bench("tileloadd tmm0, [0x200000], 4096\n", config);
    const caches::Line first = caches::line_at(0x200000);
    bench.pages.warm(first, first + 3 * caches::kLinesPerPage);
    bench.loads.fill(1, false);  // no slot: lines that hit are looked for ahead
    // Its pages come one after the other; the third drives the first out.
    bench.run(1 + 3 * 7, 3);
    bench.caches.warm(first, caches::Level::L1, false);
    bench.run(1 + 3 * 7 + 7);
    EXPECT_EQ(bench.window.at(bench.ids[0]).next_line, 0);
    bench.run(1 + 3 * 7 + 1 + 7);
    EXPECT_EQ(bench.window.at(bench.ids[0]).next_line, 1);
}

TEST(LoadUnit, OlderLoadsTakeTheSlotsFirst) {
    AmxConfig config = load_unit_sample();
    config.access.load_lines = 1;
    LoadBench bench("vmovups zmm1, [0x1000]\nvmovups zmm2, [0x1040]\nvmovups zmm3, [0x1080]\n",
                    config);
    bench.run(20);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(bench.result(i), 1 + static_cast<std::int64_t>(i) + 5 + 2);
    }
}

TEST(LoadUnit, ALoadWithoutAFillBufferStepsAside) {
    AmxConfig config = load_unit_sample();
    config.caches.fill_buffers = 1;
    LoadBench bench("vmovups zmm1, [0x100000]\nvmovups zmm2, [0x100040]\nvmovups zmm3, [0x1000]\n",
                    config);
    bench.run(60);
    EXPECT_EQ(bench.result(0), 1 + 17 + 2);
    EXPECT_EQ(bench.result(2), 1 + 5 + 2);
    // Asked for in the cycle in which the first arrives.
    EXPECT_EQ(bench.result(1), 1 + 17 + 17 + 2);
}

// A store whose data comes in cycle 23, then a load. A retired store reaches the L1 in that cycle.
std::int64_t after_store(const std::string& store, const std::string& load, bool retired) {
    LoadBench bench(store + load);
    bench.run(0, 1);
    bench.stores.set_data(0, 23);
    bench.stores.set_senior(retired ? 1 : 0);
    bench.run(100);
    return bench.result(1);
}

TEST(LoadUnit, ATileLoadWaitsForAStoreOfItsLineToBeInTheL1) {
    const std::string store = "tilestored [0x1000], 64, tmm0\n";
    const auto tile = [&](const std::string& load, bool retired) {
        return after_store(store, load, retired);
    };
    EXPECT_EQ(tile("tileloadd tmm1, [0x1000], 64\n", true), 23 + 19 + 5 + 31);
    EXPECT_EQ(tile("tileloaddt1 tmm1, [0x1000], 64\n", true), 23 + 19 + 5 + 13);
    EXPECT_EQ(tile("tileloadd tmm1, [0x1000], 64\n", false), caches::kUnknownCycle);
    EXPECT_EQ(tile("tileloadd tmm1, [0x1040], 64\n", false), 1 + 5 + 31);
}

TEST(LoadUnit, AVectorLoadTakesItsDataFromTheStoreBufferOrWaitsForTheL1) {
    const std::string tile = "tilestored [0x1000], 64, tmm0\n";
    const std::string vector = "vmovups [0x1000], zmm0, 32\n";
    EXPECT_EQ(after_store(tile, "vmovups zmm1, [0x1000]\n", false), 23 + 11 + 2);
    EXPECT_EQ(after_store(tile, "vmovups zmm1, [0x1000], 32\n", false), caches::kUnknownCycle);
    EXPECT_EQ(after_store(tile, "vmovups zmm1, [0x1000], 32\n", true), 23 + 5 + 2);
    EXPECT_EQ(after_store(vector, "vmovups zmm1, [0x1008], 24\n", false), 23 + 11 + 2);
    EXPECT_EQ(after_store(vector, "vmovups zmm1, [0x1010], 32\n", false), caches::kUnknownCycle);
    EXPECT_EQ(after_store(vector, "vmovups zmm1, [0x1010], 32\n", true), 23 + 5 + 2);
}

TEST(LoadUnit, APrefetchWaitsForNothing) {
    LoadBench bench("prefetcht0 [0x100000]\nprefetcht1 [0x200000]\n");
    bench.run(3);
    EXPECT_EQ(bench.window.at(bench.ids[0]).done_at, 1 + 1);
    EXPECT_EQ(bench.window.at(bench.ids[1]).done_at, 1 + 1);
    ASSERT_EQ(bench.caches.outbox().size(), 1U);
    EXPECT_EQ(bench.caches.outbox()[0].line, caches::line_at(0x200000));
    bench.run(1 + 17);
    EXPECT_TRUE(bench.caches.contains_l1(caches::line_at(kCold)));
}

TEST(LoadUnit, PrefetchesEndWhereTheirHintSays) {
    LoadBench bench(
        "prefetcht0 [0x100000]\nprefetchnta [0x100040]\nprefetcht1 [0x100080]\n"
        "prefetcht2 [0x1000c0]\n");
    bench.run(1 + 17 + 13);
    for (caches::Line line = 0; line < 4; ++line) {
        EXPECT_EQ(bench.caches.contains_l1(caches::line_at(kCold) + line), line < 2);
    }
}

TEST(LoadUnit, APrefetchForAStoreTakesItsLineFromTheOthers) {
    using Kind = caches::UncoreRequest::Kind;
    for (const bool store : {false, true}) {
        LoadBench bench(store ? "prefetchw [0x200000]\n" : "prefetcht0 [0x200000]\n");
        bench.run(1 + 17);
        ASSERT_EQ(bench.caches.outbox().size(), 1U);
        EXPECT_EQ(bench.caches.outbox()[0].kind, store ? Kind::Own : Kind::Read);
        bench.caches.deliver(bench.caches.outbox()[0].line, 40);
        bench.run(60);
        EXPECT_TRUE(bench.caches.contains_l1(caches::line_at(0x200000)));
    }
}

TEST(LoadUnit, WhoWaitsForASlotOrATurnSaysWhenItComes) {
    AmxConfig config = load_unit_sample();
    config.caches.fill_percent = 300;
    LoadBench bench("vmovups zmm1, [0x1000]\n", config);
    bench.loads.fill(1, false);  // three cycles
    bench.run(1);
    EXPECT_EQ(bench.loads.next_event(1), 1 + 3);
    LoadBench nontemporal("tileloaddt1 tmm0, [0x1000], 64\n");
    nontemporal.run(1);
    EXPECT_EQ(nontemporal.loads.next_event(1), 1 + 3);
}

// No slot is left: lines that are there are looked for ahead, up to the first that is not.
TEST(LoadUnit, TheFirstLineThatIsNotThereEndsARunOfHits) {
    AmxConfig config = load_unit_sample();
    config.pages.scattered = true;
    config.caches.fill_percent = 10'000;
    LoadBench bench("tileloadd tmm0, [0x200000], 64\n", config);
    const caches::Line first = caches::line_at(0x200000);
    for (const caches::Line row : {0, 1, 2, 4, 5}) {  // the fourth row is missing
        bench.caches.warm(bench.pages.physical(first + row), caches::Level::L1, false);
    }
    bench.loads.fill(1, false);
    bench.run(1);
    EXPECT_EQ(bench.window.at(bench.ids[0]).next_line, 3);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
