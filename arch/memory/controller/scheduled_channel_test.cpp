// A channel by itself: bursts in at stated CKs, commands out at exact ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "arch/memory/controller/channel_bench_testing.hpp"

namespace tilesim::arch::memory::controller {

namespace {

using testing::ElementsAre;

Heard ref(std::int64_t when) {
    return {device::Command::Refresh, 0, when};
}

constexpr std::int64_t kStart = 1000;
constexpr std::size_t kOtherGroup = 4;

TEST(Channel, AReadOpensItsRowAndIsDoneWithItsLastData) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29)));
    EXPECT_THAT(bench.done, ElementsAre(std::pair(0U, kStart + 29 + 23 + 4)));
}

TEST(Channel, AWriteIsDoneOnceItIsQueued) {
    Bench bench;
    bench.arrive(kStart, 0, 7, true);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), wr(kStart + 29)));
    EXPECT_THAT(bench.done, ElementsAre(std::pair(0U, kStart)));
}

TEST(Channel, BanksWorkSideBySide) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, kOtherGroup, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), act(kStart + 5, kOtherGroup), rd(kStart + 29),
                                         rd(kStart + 29 + 11, kOtherGroup)));
}

TEST(Channel, OnASplitBusARowAndAColumnCommandGoInTheSameCycle) {
    for (const bool split : {false, true}) {
        Bench bench;
        bench.config.split_command_bus = split;
        bench.arrive(kStart, 0, 7);
        bench.arrive(kStart + 29, kOtherGroup, 7);
        const std::int64_t second = kStart + 29 + (split ? 0 : 3);
        EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), act(second, kOtherGroup),
                                             rd(second + 29, kOtherGroup)));
    }
}

TEST(Channel, AnotherRowWaitsForItsBankToCloseAndOpen) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 0, 8);
    // PRE after tRAS, ACT after tRC (more than tRAS + tRP).
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), pre(kStart + 67),
                                         act(kStart + 101), rd(kStart + 101 + 29)));
}

// PRE of the first bank and RD of the second may both go at kStart + 67.
TEST(Channel, OfARowAndAColumnCommandDueAtOnceTheColumnGoesFirst) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 0, 8);
    bench.arrive(kStart + 38, kOtherGroup, 7);
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart), rd(kStart + 29), act(kStart + 38, kOtherGroup),
                            rd(kStart + 67, kOtherGroup), pre(kStart + 70), act(kStart + 70 + 31),
                            rd(kStart + 70 + 31 + 29)));
}

// --- queues --------------------------------------------------------------------------------------

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

// --- pages ---------------------------------------------------------------------------------------

TEST(Channel, AnIdleRowClosesWhenItsTimeIsUpAndNotBefore) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{499};
    bench.arrive(kStart, 0, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), pre(kStart + 29 + 499)));
}

TEST(Channel, EveryUseOfARowStartsItsTimeAnew) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{499};
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart + 400, 0, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), rd(kStart + 400),
                                         pre(kStart + 400 + 499)));
}

TEST(Channel, ARowSomebodyWaitsForDoesNotTimeOut) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{11};  // less than tRCD
    bench.arrive(kStart, 0, 7);
    // Used at 29, closed as soon as tRAS allows.
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), pre(kStart + 67)));
}

TEST(Channel, UnderTheClosedPolicyARowClosesAsSoonAsItMay) {
    Bench bench;
    bench.config.controller.page_policy = "closed";
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart + 60, 0, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), rd(kStart + 60),
                                         pre(kStart + 60 + 17)));  // tRTP
}

TEST(Channel, UnderTheOpenPolicyARowStaysOpen) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart + 90'000, 0, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), rd(kStart + 90'000)));
}

TEST(Channel, TheAdaptivePolicyClosesABanksRowsSoonerAfterFourConflicts) {
    Bench bench;
    bench.config.controller.page_policy = "adaptive";
    bench.config.controller.page_timeout = base::Cycles{600};
    for (int row = 0; row < 5; ++row) {
        bench.arrive(kStart, 0, row);
    }
    const std::int64_t last = kStart + 4 * 101 + 29;
    EXPECT_EQ(bench.run().back(), pre(last + 300));
}

TEST(Channel, TheAdaptivePolicyKeepsABanksRowsLongerAfterFourThatWereWantedAgain) {
    Bench bench;
    bench.config.controller.page_policy = "adaptive";
    bench.config.controller.page_timeout = base::Cycles{100};
    for (int i = 0; i < 5; ++i) {
        bench.arrive(kStart + 1000 * i, 0, 7);
    }
    const std::int64_t last = kStart + 4000 + 29;
    EXPECT_EQ(bench.run().back(), pre(last + 200));
    EXPECT_THAT(bench.heard[2], pre(kStart + 29 + 100));
}

// --- refresh -------------------------------------------------------------------------------------

struct Refreshed : Bench {
    Refreshed() {
        config.refresh = true;
        config.channels = 3;
    }
    static constexpr std::int64_t kInterval = 10'007;
};

TEST(Channel, ChannelsRefreshOneAfterTheOther) {
    for (const std::size_t index : {0U, 1U, 2U}) {
        Refreshed bench;
        bench.index = index;
        const std::int64_t due = Refreshed::kInterval * static_cast<std::int64_t>(index + 1) / 3;
        bench.arrive(due, 0, 7);
        EXPECT_THAT(bench.run(due + 500), ElementsAre(ref(due), act(due + 307), rd(due + 307 + 29)))
            << "channel " << index;
    }
}

TEST(Channel, ABurstThatComesJustBeforeARefreshLosesItsRowToIt) {
    Refreshed bench;
    const std::int64_t due = Refreshed::kInterval / 3;
    bench.arrive(due - 1, 0, 7);
    const std::int64_t closed = due - 1 + 67;      // tRAS
    const std::int64_t refreshed = due - 1 + 101;  // tRC: more than tRAS + tRP
    EXPECT_THAT(bench.run(due + 1000), ElementsAre(act(due - 1), pre(closed), ref(refreshed),
                                                   act(refreshed + 307), rd(refreshed + 307 + 29)));
}

TEST(Channel, RefreshesAreAnIntervalApart) {
    Refreshed bench;
    const std::int64_t first = Refreshed::kInterval / 3;
    for (int i = 0; i < 3; ++i) {
        bench.arrive(first + i * Refreshed::kInterval, 0, i);
    }
    std::vector<std::int64_t> when;
    for (const Heard& each : bench.run()) {
        if (each.command == device::Command::Refresh) {
            when.push_back(each.when);
        }
    }
    // Rows stay open, so that the later ones have to close one first: PRE, then tRP.
    EXPECT_THAT(when, ElementsAre(first, first + Refreshed::kInterval + 31,
                                  first + 2 * Refreshed::kInterval + 31));
}

TEST(Channel, AnIdleChannelsRefreshesAreCountedWhenSomebodyLooks) {
    Refreshed bench;
    const std::int64_t first = Refreshed::kInterval / 3;
    bench.arrive(first + 6 * Refreshed::kInterval + 5000, 0, 7);
    bench.run();
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 7);
}

TEST(Channel, ABurstWaitsForTheRefreshAnIdleChannelIsIn) {
    Refreshed bench;
    const std::int64_t due = Refreshed::kInterval / 3;
    bench.arrive(due + 200, 0, 7);
    EXPECT_THAT(bench.run(due + 1000), ElementsAre(ref(due), act(due + 307), rd(due + 307 + 29)));
}

// Every bank but the first wants a row, as fast as ACTs may follow each other.
std::vector<Heard> refreshed_among_activates(std::vector<std::size_t> banks) {
    Bench bench;
    bench.config.refresh = true;
    bench.config.controller.refresh_policy = "per_bank";
    bench.config.controller.refresh_first = base::Cycles{kStart + 12};
    bench.config.timing.tFAW = base::Cycles{20};
    bench.config.timing.tRFC_pb = base::Cycles{151};
    bench.config.timing.tREFpb_to_ACT = base::Cycles{3};
    for (const std::size_t bank : banks) {
        bench.arrive(kStart, bank, 7);
    }
    std::vector<Heard> heard = bench.run();
    heard.resize(5);
    return heard;
}

TEST(Channel, ActivatesOfOtherBanksGiveWayToABanksRefresh) {
    const Heard refresh{device::Command::RefreshBank, 0, kStart + 10 + 5};
    EXPECT_THAT(refreshed_among_activates({4, 8, 12, 5, 9, 13}),
                ElementsAre(act(kStart, 4), act(kStart + 5, 8), act(kStart + 10, 12), refresh,
                            act(kStart + 15 + 3, 5)));
}

TEST(Channel, ABanksRefreshKeepsTheDistanceOfAnActivateInItsGroup) {
    const Heard refresh{device::Command::RefreshBank, 0, kStart + 10 + 7};
    EXPECT_THAT(refreshed_among_activates({4, 8, 1, 5, 9, 13}),
                ElementsAre(act(kStart, 4), act(kStart + 5, 8), act(kStart + 10, 1), refresh,
                            act(kStart + 17 + 3, 5)));
}

struct Postponed : Refreshed {
    Postponed() {
        config.controller.refresh_first = base::Cycles{2000};
        config.controller.refresh_postpone = 2;
    }
    std::vector<std::int64_t> refreshes(std::int64_t until = 100'000) {
        std::vector<std::int64_t> when;
        for (const Heard& each : run(until)) {
            if (each.command == device::Command::Refresh) {
                when.push_back(each.when);
            }
        }
        return when;
    }
};

TEST(Channel, EveryChannelsFirstRefreshComesWhenItIsSaidTo) {
    for (const std::size_t index : {0U, 2U}) {
        Postponed bench;
        bench.config.controller.refresh_postpone = 0;
        bench.index = index;
        bench.arrive(2000, 0, 7);
        EXPECT_THAT(bench.run(3000), ElementsAre(ref(2000), act(2307), rd(2307 + 29)));
    }
}

// Two intervals behind while bursts wait, and then at their rate.
TEST(Channel, RefreshesArePutOffAsOftenAsTheyMayWhileBurstsWait) {
    Postponed bench;
    bench.config.controller.read_queue = 1;
    constexpr std::int64_t kBursts = 3200;
    for (std::int64_t i = 0; i < kBursts; ++i) {
        bench.arrive(kStart, 0, 7);  // every 13 CK, until beyond the fourth interval
    }
    const std::vector<std::int64_t> when = bench.refreshes(42'000);
    const std::int64_t due = 2000 + 2 * Refreshed::kInterval;
    ASSERT_EQ(when.size(), 2U);
    // The last RD went less than tCCD_L before; its row closes tRTP after it, the bank tRP later.
    EXPECT_GE(when[0], due + 31);
    EXPECT_LT(when[0], due + 17 + 31);
    EXPECT_GE(when[1], due + Refreshed::kInterval + 31);
    EXPECT_LT(when[1], due + Refreshed::kInterval + 17 + 31);
}

// Idle from CK 1053 on: its row was opened at 1000 and read at 1029.
TEST(Channel, AnIdleChannelMakesUpForRefreshesThatWerePutOff) {
    Postponed bench;
    bench.arrive(kStart, 0, 7);
    const std::int64_t due = 2000 + Refreshed::kInterval;
    bench.arrive(due + 100, 0, 7);
    bench.run(due + 1000);
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 2);
    // The second began when it was due; it closed the row first, and the burst waited for its end.
    EXPECT_EQ(bench.heard.back(), rd(due + 31 + 307 + 29));
}

TEST(Channel, AnIdleChannelRefreshesAhead) {
    Postponed bench;
    bench.config.controller.refresh_postpone = 0;
    bench.config.controller.refresh_pull_in = 3;
    // Due at CK 2000 and every interval from there, each of them three intervals earlier at best:
    // three could go at once, but one goes after the other; the fourth waits until 2000.
    bench.arrive(2 * 307, 0, 7);
    bench.arrive(2000 + 100, 1, 7);
    bench.run(3000);
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 4);
    EXPECT_THAT(bench.heard.front(), ref(307));
    EXPECT_THAT(bench.heard[1], act(2 * 307));
    EXPECT_EQ(bench.heard.back(), rd(2000 + 31 + 307 + 29, 1));
}

struct AfterWrites : Postponed {
    AfterWrites() {
        config.controller.refresh_postpone = 0;
        config.controller.refresh_after_writes = true;
    }
    // Of these, when the last was sent.
    std::int64_t last(device::Command command) const {
        std::int64_t when = 0;
        for (const Heard& each : heard) {
            when = each.command == command ? each.when : when;
        }
        return when;
    }
};

TEST(Channel, ARefreshAfterWritesDoesNotWaitForReads) {
    AfterWrites bench;
    for (int i = 0; i < 400; ++i) {
        bench.arrive(kStart, 0, 7);
    }
    const std::vector<std::int64_t> when = bench.refreshes(10'000);
    ASSERT_EQ(when.size(), 1U);
    EXPECT_GE(when[0], 2000);
    EXPECT_LT(when[0], 2000 + 17 + 31 + 1);  // tRTP and tRP after the last read before it
}

TEST(Channel, WithoutThatKeyARefreshDoesNotWaitForWrites) {
    AfterWrites bench;
    bench.config.controller.refresh_after_writes = false;
    for (int i = 0; i < 200; ++i) {
        bench.arrive(kStart, 0, 7, true);
    }
    const std::vector<std::int64_t> when = bench.refreshes(9600);
    ASSERT_FALSE(when.empty());
    EXPECT_GE(when[0], 2000);
    EXPECT_LT(when[0], 2000 + 19 + 4 + 41 + 31 + 1);  // tWR and tRP after the last write before it
}

TEST(Channel, ARefreshAfterWritesWaitsForTheLastOfThem) {
    AfterWrites bench;
    for (int i = 0; i < 200; ++i) {
        bench.arrive(kStart, 0, 7, true);
    }
    bench.arrive(9000, 0, 7);  // somebody looks again
    const std::vector<std::int64_t> when = bench.refreshes(9600);
    EXPECT_GT(bench.last(device::Command::Write), 2000 + 1000);
    ASSERT_EQ(when.size(), 1U);
    EXPECT_GT(when[0], bench.last(device::Command::Write));
}

// Eight intervals, which is as long as the standards let a refresh wait.
TEST(Channel, ARefreshAfterWritesWaitsForEightIntervalsAtMost) {
    AfterWrites bench;
    bench.config.timing.tREFI = base::Cycles{1000};
    for (int i = 0; i < 1600; ++i) {
        bench.arrive(kStart, 0, 7, true);
    }
    const std::vector<std::int64_t> when = bench.refreshes(30'000);
    ASSERT_FALSE(when.empty());
    EXPECT_GE(when[0], 2000 + 8 * 1000);
    EXPECT_LT(when[0], 2000 + 8 * 1000 + 150);
}

// --- the data bus's time -------------------------------------------------------------------------

TEST(Channel, TheDataBusIsIdleThenWaitsForTheRowThenReads) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.run();
    EXPECT_EQ(bench.spent(BusState::Idle), kStart);
    EXPECT_EQ(bench.spent(BusState::RowMiss), 29 + 23);
    EXPECT_EQ(bench.spent(BusState::Read), 4);
    EXPECT_EQ(bench.channel().data_end(), kStart + 29 + 23 + 4);
}

TEST(Channel, AWritesDataFollowItsCommandByTheWriteLatency) {
    Bench bench;
    bench.arrive(kStart, 0, 7, true);
    bench.run();
    EXPECT_EQ(bench.spent(BusState::RowMiss), 29 + 19);
    EXPECT_EQ(bench.spent(BusState::Write), 4);
    EXPECT_EQ(bench.channel().data_end(), kStart + 29 + 19 + 4);
}

TEST(Channel, SpacingBetweenColumnCommandsIsTurnaround) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 0, 7);
    bench.run();
    EXPECT_EQ(bench.spent(BusState::Turnaround), 13 - 4);  // tCCD_L less the burst
    EXPECT_EQ(bench.spent(BusState::Read), 8);
}

TEST(Channel, ABurstBehindARefreshChargesItsPart) {
    Refreshed bench;
    const std::int64_t due = Refreshed::kInterval / 3;
    bench.arrive(due, 0, 7);
    bench.run(due + 1000);
    EXPECT_EQ(bench.spent(BusState::Idle), due);
    EXPECT_EQ(bench.spent(BusState::Refresh), 307 + 23);
    EXPECT_EQ(bench.spent(BusState::RowMiss), 29);
}

TEST(Channel, EveryCycleOfTheDataBusHasOneCause) {
    Refreshed bench;
    for (int i = 0; i < 300; ++i) {
        bench.arrive(kStart + 53 * i, static_cast<std::size_t>(i * 7 % 16), i % 5, i % 3 == 0);
    }
    bench.run();
    EXPECT_EQ(bench.spent(BusState::Read) + bench.spent(BusState::Write), 300 * 4);
    bench.channel().finish_statistics(100'000);
    EXPECT_EQ(bench.channel().stats().bus.total(), 100'000);
}

// --- guests --------------------------------------------------------------------------------------

struct Guest : ChannelGuest {
    std::int64_t run(std::int64_t now, std::int64_t until) override {
        turns.emplace_back(now, until);
        --left;
        return now + length;
    }
    bool finished() const override { return left == 0; }
    std::optional<std::int64_t> on_left(std::int64_t now) override {
        gone = now;
        return std::nullopt;
    }
    int left = 1;
    std::int64_t length = 211;
    std::int64_t gone = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> turns;  // from, next refresh
};

TEST(Channel, AGuestGetsItOnceEveryRowIsClosedAndRequestsWaitForHim) {
    Bench bench;
    Guest guest;
    bench.arrive(kStart, 0, 7);
    bench.channel().invite(guest, kStart + 500);
    bench.arrive(kStart + 510, 0, 7);
    const std::int64_t quiet = kStart + 500 + 31;  // PRE, tRP
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), pre(kStart + 500),
                                         act(quiet + 211 + 1), rd(quiet + 211 + 1 + 29)));
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(quiet, INT64_MAX)));
    EXPECT_EQ(guest.gone, quiet + 211);
    EXPECT_EQ(bench.spent(BusState::Guest), 211);
    EXPECT_TRUE(bench.channel().idle());
}

TEST(Channel, RefreshesComeBetweenAGuestsTurns) {
    Refreshed bench;
    Guest guest;
    guest.left = 2;
    const std::int64_t due = Refreshed::kInterval / 3;
    guest.length = due - kStart;
    bench.channel().invite(guest, kStart);
    bench.channel().run(kStart, 2 * due);
    EXPECT_THAT(bench.heard, ElementsAre(ref(due)));
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(kStart, due),
                                         std::pair(due + 307, due + Refreshed::kInterval)));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
