// What keeps requests of a port, or of all ports, apart: intervals and blocks of memory.
#include <gtest/gtest.h>

#include <vector>

#include "arch/fabric/fabric_bench_testing.hpp"
#include "arch/fabric/shared_blocks.hpp"

namespace tilesim::arch::fabric {
namespace {

TEST(Fabric, RequestsOfAPortSetOutAnIntervalApartHoweverShortTheyAre) {
    FabricConfig config = kWide;
    config.request_interval = 13_ns;
    ExactBench bench(config);
    bench.submit(0, kWidth, false, 0);
    bench.submit(0, kWidth, false, 0);
    bench.submit(0, kWidth, false, 1);  // another port
    bench.submit(0, kWidth, true, 0);   // after a cycle on its data port
    bench.submit(0, kWidth, true, 0);
    EXPECT_EQ(bench.run()[1], 13_ns + kWay + 1_ns);
    const auto& reads = bench.memory.reads;
    EXPECT_EQ(reads[0].arrival, kRequest);
    EXPECT_LT(reads[1].arrival, 1_ns + kRequest);  // the other port's: but for a picosecond at once
    EXPECT_EQ(reads[2].arrival, 13_ns + kRequest);
    EXPECT_EQ(bench.memory.writes[0].arrival, 1_ns + kRequest);
    EXPECT_EQ(bench.memory.writes[1].arrival, 14_ns + kRequest);
}

TEST(Fabric, AModifiableRequestTakesNoInterval) {
    FabricConfig config = kWide;
    config.request_interval = 13_ns;
    ExactBench bench(config);
    for (int i = 0; i < 2; ++i) {
        bench.fabric.submit({0, kWidth, false, 0, &bench.listener, 0, true});
    }
    bench.submit(0, kWidth, false, 0);
    bench.submit(0, kWidth, false, 0);
    bench.run();
    const auto& reads = bench.memory.reads;
    EXPECT_LT(reads[2].arrival, 1_ns + kRequest);
    EXPECT_GE(reads[3].arrival, 13_ns + kRequest);
}

TEST(Fabric, EveryAlignedChopOfARequestTakesAnInterval) {
    for (const std::int64_t chop : {64, 256}) {
        FabricConfig config = kWide;
        config.request_interval = 13_ns;
        config.chop = base::Bytes{chop};
        ExactBench bench(config);
        bench.submit(chop - 1, chop + 2, false, 0);  // of three chops
        bench.submit(chop, chop, false, 0);          // of one
        bench.submit(0, 1, false, 0);
        bench.run();
        EXPECT_EQ(bench.memory.reads[1].arrival, 13_ns * 3 + kRequest);
        EXPECT_EQ(bench.memory.reads[2].arrival, 13_ns * 4 + kRequest);
    }
}

// Blocks of 64 B in 7 ns, behind a link that does not hold anything up.
FabricConfig in_blocks() {
    FabricConfig config = kWide;
    config.block = base::Bytes{64};
    config.block_interval = 7_ns;
    return config;
}

TEST(Fabric, RequestsOfAllPortsTakeWholeBlocksAnIntervalEach) {
    ExactBench bench(in_blocks());
    bench.submit(63, 2, false, 0);    // of two blocks
    bench.submit(64, 64, false, 1);   // of one
    bench.submit(16, 112, false, 0);  // of two, each in part
    bench.submit(0, 1, false, 1);
    bench.submit(0, kWidth, true, 0);  // after a cycle on its data port
    bench.submit(0, kWidth, true, 1);
    bench.run();
    std::vector<base::Femtoseconds> arrivals;
    for (const auto& read : bench.memory.reads) {
        arrivals.push_back(read.arrival);
    }
    EXPECT_EQ(arrivals, (Times{kRequest, kRequest + 14_ns, kRequest + 21_ns, kRequest + 35_ns}));
    EXPECT_EQ(bench.memory.writes[0].arrival, kRequest + 1_ns);
    EXPECT_EQ(bench.memory.writes[1].arrival, kRequest + 8_ns);
}

// 96 B, then what follows it in memory, on another port: of three blocks they take four apart.
TEST(Fabric, ModifiableRequestsShareTheBlockBetweenThem) {
    for (const bool modifiable : {false, true}) {
        ExactBench bench(in_blocks());
        const auto submit = [&](std::int64_t address, std::int64_t bytes, std::size_t port) {
            bench.fabric.submit(
                {address, bytes, false, port, &bench.listener, bench.submitted++, modifiable});
        };
        submit(4096, 64, 0);  // the others wait for its block
        submit(0, 96, 0);
        submit(96, 96, 1);
        submit(8192, 64, 0);
        bench.run();
        EXPECT_EQ(bench.memory.reads[3].arrival, kRequest + 7_ns * (modifiable ? 4 : 5));
    }
}

TEST(Fabric, ABlockIsSharedWhileOneOfTheRequestsWaits) {
    SharedBlocks blocks(in_blocks());
    EXPECT_EQ(blocks.take(0, 96, true, 10_ns), 10_ns);
    EXPECT_EQ(blocks.take(96, 96, true, 10_ns), 24_ns);   // the first has gone: two blocks
    EXPECT_EQ(blocks.take(224, 32, true, 23_ns), 38_ns);  // the second half of a block
    EXPECT_EQ(blocks.take(192, 32, true, 23_ns), 45_ns);  // the first comes along
    EXPECT_EQ(blocks.take(192, 32, true, 23_ns), 45_ns);  // once: this one takes the block again
    EXPECT_EQ(blocks.take(208, 16, true, 23_ns), 52_ns);  // beside none of them
    EXPECT_EQ(blocks.take(64, 32, false, 23_ns), 59_ns);
}

TEST(Fabric, RequestsThatMeetAtTheEdgeOfABlockShareNone) {
    SharedBlocks blocks(in_blocks());
    for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(blocks.take(64 * i, 64, true, 0_ns), 7_ns * i);
    }
}

// 16 B each: of a block's four pieces every one is beside another, and the block goes once.
TEST(Fabric, ABlockInFourPiecesGoesOnce) {
    SharedBlocks blocks(in_blocks());
    blocks.take(0, 64, true, 0_ns);
    for (const std::int64_t piece : {1, 0, 3, 2}) {
        blocks.take(640 + piece * 16, 16, true, 0_ns);
    }
    EXPECT_EQ(blocks.take(64, 64, true, 0_ns), 7_ns * 3);  // 3 and 1 were beside none at first
}

TEST(Fabric, ARequestThatWaitsForItsTurnDoesNotKeepTheLinkFromAnotherPorts) {
    FabricConfig config = narrow();
    config.request_interval = 29_ns;
    ExactBench bench(config);
    bench.submit(0, kLineBytes, false, 0);
    bench.submit(0, kLineBytes, false, 0);
    bench.submit(0, kLineBytes, false, 1);
    bench.run();
    EXPECT_EQ(bench.memory.reads[0].arrival, kRequest);
    EXPECT_EQ(bench.memory.reads[1].arrival, kLine + kRequest);  // the other port's
    EXPECT_EQ(bench.memory.reads[2].arrival, 29_ns + kRequest);
}

TEST(Fabric, ARequestThatComesLaterThanTheIntervalDoesNotWait) {
    FabricConfig turns = kWide;
    turns.request_interval = 13_ns;
    for (const FabricConfig& config : {turns, in_blocks()}) {
        ExactBench bench(config);
        bench.read(0);
        bench.run();
        const base::Femtoseconds first = bench.listener.done[0].second;
        bench.read(0);
        bench.run();
        EXPECT_EQ(bench.memory.reads[1].arrival - first, kRequest);
    }
}

}  // namespace
}  // namespace tilesim::arch::fabric
