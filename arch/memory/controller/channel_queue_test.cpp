// The queues of a channel: room, watermarks of writes, who overtakes whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "arch/memory/controller/channel_bench_testing.hpp"

namespace tilesim::arch::memory::controller {

namespace {

using testing::ElementsAre;

TEST(Channel, AReadForWhichThereIsNoRoomComesInAfterOneHasLeft) {
    Bench bench;
    bench.config.controller.read_queue = 2;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 4, 7);
    bench.arrive(kStart, 8, 7);
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart), act(kStart + 5, 4), rd(kStart + 29),
                            act(kStart + 29 + 3, 8),  // the RD holds the command bus for 3
                            rd(kStart + 29 + 11, 4), rd(kStart + 32 + 29, 8)));
}

TEST(Channel, AQueueOfOneBurstLetsInTheNextWhenItIsEmpty) {
    Bench bench;
    bench.config.controller.read_queue = 1;
    for (int i = 0; i < 3; ++i) {
        bench.arrive(kStart, 0, 7);
    }
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), rd(kStart + 29 + 13),
                                         rd(kStart + 29 + 26)));
}

TEST(Channel, AWriteForWhichThereIsNoRoomIsTakenOverAfterOneHasLeft) {
    Bench bench;
    bench.config.controller.write_queue = 2;
    bench.config.controller.write_high = 2;
    bench.config.controller.write_low = 1;
    for (const std::size_t bank : {0U, 4U, 8U}) {
        bench.arrive(kStart, bank, 7, true);
    }
    bench.run();
    EXPECT_THAT(bench.done, ElementsAre(std::pair(0U, kStart), std::pair(1U, kStart),
                                        std::pair(2U, kStart + 29 + 1)));
}

std::vector<device::Command> columns(const std::vector<Heard>& heard) {
    std::vector<device::Command> found;
    for (const Heard& each : heard) {
        if (each.command == device::Command::Read || each.command == device::Command::Write) {
            found.push_back(each.command);
        }
    }
    return found;
}

struct Drain : Bench {
    Drain() {
        config.controller.write_high = 5;
        config.controller.write_low = 2;
    }
    void arrive_together(int writes, int reads) {
        for (int i = 0; i < writes; ++i) {
            arrive(kStart, 0, 7, true);
        }
        for (int i = 0; i < reads; ++i) {
            arrive(kStart, 0, 7);
        }
    }
};
constexpr device::Command kReadColumn = device::Command::Read;
constexpr device::Command kWrite = device::Command::Write;

TEST(Channel, WritesBelowTheUpperWatermarkWaitForTheReadsToEnd) {
    Drain bench;
    bench.arrive_together(4, 2);
    EXPECT_THAT(columns(bench.run()),
                ElementsAre(kReadColumn, kReadColumn, kWrite, kWrite, kWrite, kWrite));
}

TEST(Channel, AtTheUpperWatermarkTheyDrainDownToTheLower) {
    Drain bench;
    bench.arrive_together(5, 2);
    EXPECT_THAT(columns(bench.run()),
                ElementsAre(kWrite, kWrite, kWrite, kReadColumn, kReadColumn, kWrite, kWrite));
}

std::vector<device::Command> followed_by(
    std::initializer_list<std::pair<std::size_t, device::Command>> stretches) {
    std::vector<device::Command> all;
    for (const auto& [count, command] : stretches) {
        all.insert(all.end(), count, command);
    }
    return all;
}

// Another write comes in for each that leaves, so the lower watermark is not reached: the seven
// the queue holds go, then a quarter as many reads, until no more writes come.
TEST(Channel, WritesThatComeAsFastAsTheyLeaveTakeTurnsWithTheReads) {
    Drain bench;
    bench.config.controller.write_queue = 7;
    for (int i = 0; i < 9; ++i) {
        bench.arrive(kStart, 0, 7);
    }
    bench.arrive_together(20, 0);
    EXPECT_EQ(columns(bench.run()), followed_by({{7, kWrite},
                                                 {2, kReadColumn},
                                                 {7, kWrite},
                                                 {2, kReadColumn},
                                                 {4, kWrite},
                                                 {5, kReadColumn},
                                                 {2, kWrite}}));
}

// A write comes in for each of the first eight that leave.
struct SteadyDrain : Drain {
    explicit SteadyDrain(std::int64_t write_queue) {
        config.controller.write_queue = write_queue;
        arrive_together(5, 0);
        for (int i = 0; i < 8; ++i) {
            arrive(behind(i), 0, 7, true);
        }
    }
    static std::int64_t behind(int write) { return kStart + 29 + 37 * write + 1; }
};

TEST(Channel, ADrainThatHasServedWhatTheQueueHoldsGivesWayToTheFirstReadThatComes) {
    SteadyDrain bench(7);
    bench.arrive(SteadyDrain::behind(8), 0, 7);
    EXPECT_EQ(columns(bench.run()), followed_by({{9, kWrite}, {1, kReadColumn}, {4, kWrite}}));
}

// Five wait at a time, of a queue of ten; yet with one of eleven a write more would have gone.
TEST(Channel, KnowsHowManyWritesADrainHadServedWhenItsLengthWasInQuestion) {
    SteadyDrain bench(10);
    bench.arrive(kStart, 0, 7);
    EXPECT_EQ(columns(bench.run()), followed_by({{10, kWrite}, {1, kReadColumn}, {3, kWrite}}));
    EXPECT_EQ(bench.channel().peaks().writes, 10);
}

TEST(Channel, KnowsHowFarItsQueuesAndTheirWatermarksHaveGone) {
    Drain below;
    below.arrive_together(4, 2);
    below.run();
    EXPECT_EQ(below.channel().peaks().reads, 2);
    EXPECT_EQ(below.channel().peaks().writes, 4);
    EXPECT_EQ(below.channel().peaks().writes_at_turn, 4);  // once the reads are done
    EXPECT_EQ(below.channel().peaks().writes_left, 0);
    Drain above;
    above.arrive_together(5, 2);
    above.run();
    EXPECT_EQ(above.channel().peaks().writes_at_turn, 5);
    EXPECT_EQ(above.channel().peaks().writes_left, 2);
}

// The first has the row opened, and all are done with the last.
TEST(Channel, BurstsOfARunFindTheRowOpenThatTheFirstOpened) {
    Bench bench;
    bench.arrive(kStart, 0, 7, false, 3);
    const std::int64_t last = kStart + 29 + 2 * 13;
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart), rd(kStart + 29), rd(kStart + 29 + 13), rd(last)));
    EXPECT_EQ(bench.channel().stats().row_hits.value(), 2);
    EXPECT_THAT(bench.done, ElementsAre(std::pair(0U, last + 27), std::pair(0U, last + 27),
                                        std::pair(0U, last + 27)));
}

// There is room for two of three.
TEST(Channel, ARunComesInAsFarAsThereIsRoom) {
    Bench bench;
    bench.config.controller.write_queue = 2;
    bench.config.controller.write_high = 2;
    bench.config.controller.write_low = 1;
    bench.arrive(kStart, 0, 7, true, 3);
    bench.run();
    EXPECT_THAT(bench.done, ElementsAre(std::pair(0U, kStart), std::pair(0U, kStart),
                                        std::pair(0U, kStart + 29 + 1)));
}

// A burst that comes in behind the run is younger than all of it, tCCD_L and tCCD_S alike.
TEST(Channel, AYoungerBurstWaitsForTheWholeRun) {
    Bench bench;
    bench.config.timing.tCCD_S = bench.config.timing.tCCD_L;
    bench.arrive(kStart, kOtherGroup, 7, false, 3);
    bench.arrive(kStart, 0, 7);
    const std::int64_t first = kStart + 29;
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart, kOtherGroup), act(kStart + 5),
                                         rd(first, kOtherGroup), rd(first + 13, kOtherGroup),
                                         rd(first + 26, kOtherGroup), rd(first + 39)));
}

// Of bank 0's row opened for the second, the third is in between; a fifth comes behind that one.
TEST(Channel, ABurstThatComesBehindOthersDoesNotJoinThoseWhoseRowHasOpened) {
    Bench bench;
    for (const std::int64_t row : {7, 8, 9, 8}) {
        bench.arrive(kStart, 0, row);
    }
    bench.arrive(kStart + 110, 0, 10);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), pre(kStart + 67),
                                         act(kStart + 101), rd(kStart + 130), rd(kStart + 143),
                                         pre(kStart + 168), act(kStart + 202), rd(kStart + 231),
                                         pre(kStart + 269), act(kStart + 303), rd(kStart + 332)));
}

// The read's row has been open for long; the data of the writes keep it waiting.
TEST(Channel, AReadThatHitsItsRowWhileWritesDrainWaitsForTheirEnd) {
    Bench bench;
    bench.config.controller.write_high = 3;
    bench.config.controller.write_low = 0;
    bench.arrive(kStart - 500, 0, 7);
    bench.arrive(kStart - 500, kOtherGroup, 7);
    for (int i = 0; i < 3; ++i) {
        bench.arrive(kStart, 0, 7, true);
    }
    bench.arrive(kStart + 5, kOtherGroup, 7);
    bench.run();
    const std::vector<Heard> last(bench.heard.begin() + 4, bench.heard.end());
    EXPECT_THAT(last, ElementsAre(wr(kStart), wr(kStart + 37), wr(kStart + 74),
                                  rd(kStart + 74 + 19 + 4 + 3, kOtherGroup)));
}

TEST(Channel, KnowsHowManyRowHitsHaveOvertakenABurst) {
    Bench bench;
    bench.config.controller.starvation_cap = 2;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 0, 8);
    bench.arrive(kStart, 0, 7);
    bench.run();
    EXPECT_EQ(bench.channel().peaks().overtaken, 1);
    for (int i = 0; i < 3; ++i) {  // the last has to wait
        bench.arrive(50'000, 0, i == 0 ? 9 : 8);
    }
    bench.arrive(50'000, 0, 8);
    bench.channel().run(50'000, 100'000);
    EXPECT_EQ(bench.channel().peaks().overtaken, 2);
}

TEST(Channel, DirectionsAreATurnaroundApart) {
    Drain bench;
    bench.arrive_together(5, 1);
    const std::int64_t last_write = kStart + 29 + 2 * 37;
    const std::int64_t read = last_write + 19 + 4 + 47;      // tWTR_L
    const std::int64_t next_write = read + 23 + 4 + 2 - 19;  // tRTW
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart), wr(kStart + 29), wr(kStart + 29 + 37), wr(last_write),
                            rd(read), wr(next_write), wr(next_write + 37)));
}

// Writes to open rows keep the read from its data bus beyond tRAS, when another row is wanted.
TEST(Channel, ARowOpenedForAReadStaysOpenForItWhileWritesDrain) {
    Drain bench;
    for (const std::size_t bank : {4U, 8U, 12U}) {
        bench.arrive(kStart - 500, bank, 7, true);
    }
    bench.arrive(kStart, 0, 7);
    for (const std::size_t bank : {4U, 8U, 12U, 4U, 8U, 12U}) {
        bench.arrive(kStart + 24, bank, 7, true);
    }
    bench.arrive(kStart + 24, 0, 8, true);
    bench.arrive(kStart + 24, 0, 8, true);
    std::vector<device::Command> of_bank_0;
    std::int64_t read = 0;
    for (const Heard& each : bench.run()) {
        if (each.bank == 0) {
            of_bank_0.push_back(each.command);
            read = each.command == kReadColumn ? each.when : read;
        }
    }
    EXPECT_GT(read, kStart + 67);
    EXPECT_THAT(of_bank_0,
                ElementsAre(device::Command::Activate, kReadColumn, device::Command::Precharge,
                            device::Command::Activate, kWrite, kWrite));
}

TEST(Channel, FirstComeFirstServedOpensNoRowAheadAndLetsNoHitOvertake) {
    Bench bench;
    bench.config.controller.scheduler = "fcfs";
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, kOtherGroup, 9);
    bench.arrive(kStart, kOtherGroup, 8);
    bench.arrive(kStart, kOtherGroup, 9);
    bench.arrive(kStart, 0, 7);
    const std::int64_t second = kStart + 29 + 3;  // the first RD holds the command bus
    const std::int64_t third = second + 101;      // tRC
    const std::int64_t fourth = third + 101;
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), act(second, 4),
                                         rd(second + 29, 4), pre(second + 67, 4), act(third, 4),
                                         rd(third + 29, 4), pre(third + 67, 4), act(fourth, 4),
                                         rd(fourth + 29, 4), rd(fourth + 29 + 11)));
}

TEST(Channel, FirstReadyServesTheSameBurstsOutOfOrder) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, kOtherGroup, 9);
    bench.arrive(kStart, kOtherGroup, 8);
    bench.arrive(kStart, kOtherGroup, 9);
    bench.arrive(kStart, 0, 7);
    const std::int64_t second = kStart + 5;
    const std::int64_t third = second + 101;
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart), act(second, 4), rd(kStart + 29), rd(kStart + 40, 4),
                            rd(kStart + 51), rd(kStart + 62, 4), pre(kStart + 62 + 17, 4),
                            act(std::max(third, kStart + 79 + 31), 4),
                            rd(std::max(third, kStart + 79 + 31) + 29, 4)));
}

}  // namespace

}  // namespace tilesim::arch::memory::controller
