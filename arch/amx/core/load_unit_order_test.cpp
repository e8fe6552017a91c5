// In which order a load unit serves what waits, and what may go ahead.
#include <gtest/gtest.h>

#include "arch/amx/core/load_unit_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

TEST(LoadUnit, APrefetchIntoTheL2TakesItsSlotByAgeAndIsThenDone) {
    AmxConfig config = load_unit_sample();
    config.access.load_lines = 1;
    LoadBench first("prefetcht1 [0x100000]\nvmovups zmm1, [0x1000]\n", config);
    first.run(20);
    EXPECT_EQ(first.result(0), 1 + 1);
    EXPECT_EQ(first.result(1), 2 + 5 + 2);
    EXPECT_TRUE(first.loads.empty());
    LoadBench last("vmovups zmm1, [0x1000]\nprefetcht2 [0x100000]\n", config);
    last.run(20);
    EXPECT_EQ(last.result(0), 1 + 5 + 2);
    EXPECT_EQ(last.result(1), 2 + 1);
    EXPECT_TRUE(last.loads.empty());
}

// Two slots a cycle: the third waits for the next.
TEST(LoadUnit, APrefetchIntoTheL2ThatIsSentTakesNoSlotAnyMore) {
    LoadBench bench(
        "prefetcht1 [0x100000]\nvmovups zmm1, [0x1000]\nprefetcht1 [0x100040]\n"
        "vmovups zmm2, [0x1040]\nvmovups zmm3, [0x1080]\n");
    bench.run(20);
    EXPECT_EQ(bench.result(0), 1 + 1);
    EXPECT_EQ(bench.result(1), 1 + 5 + 2);
    EXPECT_EQ(bench.result(2), 2 + 1);
    EXPECT_EQ(bench.result(3), 2 + 5 + 2);
    EXPECT_EQ(bench.result(4), 3 + 5 + 2);
    EXPECT_TRUE(bench.loads.empty());
}

// No slot before cycle 4: the tile's lines, which are there, do not take those to come.
TEST(LoadUnit, ATileDoesNotRunAheadOfAnOlderPrefetchIntoTheL2) {
    AmxConfig config = load_unit_sample();
    config.caches.fill_percent = 300;
    LoadBench bench("prefetcht1 [0x100000]\ntileloadd tmm0, [0x1000], 64\n", config);
    bench.loads.fill(1, false);
    bench.run(60);
    EXPECT_EQ(bench.result(0), 4 + 1);
    EXPECT_EQ(bench.result(1), 4 + 16 / 2 + 5 + 31);
}

TEST(LoadUnit, APrefetchThatWaitsForItsPortSaysSo) {
    AmxConfig config = load_unit_sample();
    config.access.prefetch_port = true;
    config.caches.fill_percent = 1100;
    LoadBench bench("prefetcht0 [0x100]\nprefetcht0 [0x140]\n", config);
    bench.loads.fill(1, false);  // eleven cycles
    bench.run(1);
    EXPECT_EQ(bench.loads.next_event(1), 2);
    bench.run(2);
    EXPECT_EQ(bench.result(1), 2 + 1);
}

TEST(LoadUnit, ALoadThatWaitsForAStoresDataSaysWhenTheyCome) {
    LoadBench bench("vmovups [0x1000], zmm0\nvmovups zmm1, [0x1000]\n");
    bench.run(0);
    bench.stores.set_data(0, 23);
    bench.run(5);
    EXPECT_EQ(bench.loads.next_event(5), 23);
}

// All slots are taken: lines that are there are taken ahead, from the one that is next.
TEST(LoadUnit, ARunOfHitsBeginsWithTheNextLine) {
    LoadBench bench("tileloadd tmm0, [0x200000], 64\n");
    const caches::Line first = caches::line_at(0x200000);
    for (const caches::Line row : {0, 1, 2, 3, 4, 6, 7}) {  // the sixth is missing
        bench.caches.warm(first + row, caches::Level::L1, false);
    }
    bench.run(1);
    EXPECT_EQ(bench.window.at(bench.ids[0]).next_line, 5);
}

TEST(LoadUnit, ARunOfHitsEndsAtALineThatAStoreWrites) {
    AmxConfig config = load_unit_sample();
    config.caches.fill_percent = 10'000;
    LoadBench bench("vmovups [0x10c0], zmm0\ntileloadd tmm0, [0x1000], 64\n", config);
    bench.loads.fill(1, false);
    bench.run(1);
    EXPECT_EQ(bench.window.at(bench.ids[1]).next_line, 3);
}

TEST(LoadUnit, ARunOfHitsWaitsForItsPage) {
    AmxConfig config = load_unit_sample();
    config.pages.second_latency = base::Cycles{7};
    config.caches.fill_percent = 10'000;
    LoadBench bench("tileloadd tmm0, [0x1000], 64\n", config);
    bench.pages.warm(caches::line_at(0x1000), caches::line_at(0x2000));
    bench.loads.fill(1, false);
    bench.run(7);
    EXPECT_EQ(bench.window.at(bench.ids[0]).next_line, 0);
    bench.run(8);
    EXPECT_EQ(bench.window.at(bench.ids[0]).next_line, 16);
}

TEST(LoadUnit, LoadsTrainTheStridePrefetcherAndTilesDoNot) {
    AmxConfig config = load_unit_sample();
    config.caches.l1_stride = true;
    LoadBench loads("loop i 3\n  vmovups zmm0, [0x200000 + 64*i]\nend\n", config);
    for (const caches::Line line : {0, 1, 2}) {
        loads.caches.warm(caches::line_at(0x200000) + line, caches::Level::L1, false);
    }
    loads.run(3);
    ASSERT_EQ(loads.caches.outbox().size(), 1U);
    EXPECT_EQ(loads.caches.outbox()[0].line, caches::line_at(0x200000) + 3);
    config.access.load_lines = 4;  // a slot for each row
    LoadBench tiles("tileloadd tmm0, [0x200000], 64\n", config);
    for (caches::Line line = 0; line < 3; ++line) {
        tiles.caches.warm(caches::line_at(0x200000) + line, caches::Level::L1, false);
    }
    tiles.run(2, 3);
    EXPECT_TRUE(tiles.caches.outbox().empty());
}

}  // namespace
}  // namespace tilesim::arch::amx::core
