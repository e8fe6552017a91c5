// A channel by itself: bursts in at stated CKs, commands out at exact ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "arch/memory/controller/channel_bench_testing.hpp"

namespace tilesim::arch::memory::controller {

namespace {

using testing::ElementsAre;

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

// The second read waits for the turn of the bus behind the write, longer than the row's time.
TEST(Channel, ARowWhoseReadWaitsForTheBusDoesNotTimeOut) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{50};
    bench.config.controller.write_high = 1;
    bench.config.controller.write_low = 0;
    bench.config.timing.tWTR_L = base::Cycles{120};
    bench.arrive(kStart, 1, 7);
    bench.arrive(kStart + 30, 0, 7, true);
    bench.arrive(kStart + 60, 1, 7);
    const std::int64_t read = kStart + 61 + 19 + 4 + 120;
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart, 1), rd(kStart + 29, 1), act(kStart + 32), wr(kStart + 61),
                            pre(kStart + 61 + 19 + 4 + 41), rd(read, 1), pre(read + 50, 1)));
}

TEST(Channel, UnderTheClosedPolicyARowClosesAsSoonAsItMay) {
    Bench bench;
    bench.config.controller.page_policy = "closed";
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart + 60, 0, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), rd(kStart + 60),
                                         pre(kStart + 60 + 17)));  // tRTP
}

TEST(Channel, AnIdleRowDoesNotWaitForOneThatIsUsedLater) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{499};
    bench.arrive(kStart, kOtherGroup, 7);
    bench.arrive(kStart + 100, 0, 7);
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kStart, kOtherGroup), rd(kStart + 29, kOtherGroup),
                            act(kStart + 100), rd(kStart + 129),
                            pre(kStart + 29 + 499, kOtherGroup), pre(kStart + 129 + 499)));
}

// The write's data follow the read's, and the other way round.
TEST(Channel, AColumnClosesNoRowThatTheOtherDirectionWaitsFor) {
    Bench read_first;
    read_first.config.controller.page_policy = "closed_adaptive";
    read_first.arrive(kStart, 0, 7);
    read_first.arrive(kStart, 0, 7, true);
    const Heard last_write{device::Command::WritePrecharge, 0, kStart + 29 + 23 + 4 + 2 - 19};
    EXPECT_THAT(read_first.run(), ElementsAre(act(kStart), rd(kStart + 29), last_write));
    Bench write_first;
    write_first.config.controller.page_policy = "closed_adaptive";
    write_first.config.controller.write_high = 1;
    write_first.config.controller.write_low = 0;
    write_first.arrive(kStart, 0, 7);
    write_first.arrive(kStart, 0, 7, true);
    const Heard last_read{device::Command::ReadPrecharge, 0, kStart + 29 + 19 + 4 + 47};
    EXPECT_THAT(write_first.run(), ElementsAre(act(kStart), wr(kStart + 29), last_read));
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

// 1056 to 2000 nobody waits, then there is the latency: the direction's where it has turned.
TEST(Channel, TheLatencyBehindAnIdleBusIsIdleUnlessTheBusTurns) {
    Bench bench;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart + 1000, 0, 7);
    bench.arrive(kStart + 2000, 0, 7, true);
    bench.arrive(kStart + 3000, 0, 7, true);
    bench.run();
    EXPECT_EQ(bench.spent(BusState::RowMiss), 29 + 23);
    EXPECT_EQ(bench.spent(BusState::Turnaround), 19);
    EXPECT_EQ(bench.spent(BusState::Idle), 4019 - 29 - 23 - 19 - 3 * 4);
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

TEST(Channel, ABurstWithoutARefreshBeforeItChargesNone) {
    Bench bench;
    bench.config.timing.read_latency = base::Cycles{2 * kStart};
    bench.arrive(kStart, 0, 7);
    bench.run();
    EXPECT_EQ(bench.spent(BusState::Refresh), 0);
}

// Where some banks are refreshed at a time, who waits for it is who wants one of these.
TEST(Channel, ABurstBehindARefreshOfItsBankChargesItsPart) {
    for (const std::size_t bank : {0U, 4U}) {
        Refreshed bench;
        constexpr std::int64_t kDue = 2000;
        bench.config.controller.refresh_policy = "per_bank";
        bench.config.controller.refresh_first = base::Cycles{kDue};
        bench.config.timing.tRFC_pb = base::Cycles{151};
        bench.config.timing.tREFpb_to_ACT = base::Cycles{3};
        bench.arrive(kDue, bank, 7);
        bench.run(kDue + 500);
        EXPECT_EQ(bench.spent(BusState::Refresh), bank == 0 ? 151 + 23 : 0);
        EXPECT_EQ(bench.spent(BusState::RowMiss), bank == 0 ? 29 : 3 + 29 + 23);
    }
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

// Two banks open from 1000 and 1005 on; nothing closes them. Counted in two parts.
TEST(Channel, CountsHowLongRowsAreOpenToTheEndAndRowsThatWereFoundOpen) {
    Bench bench;
    bench.config.controller.page_policy = "open";
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, kOtherGroup, 7);
    bench.run(kStart + 500);
    Channel& channel = bench.channel();
    EXPECT_EQ(channel.stats().row_hits.value(), 1);  // the second of bank 0
    for (const std::int64_t end : {kStart + 500, kStart + 723}) {
        channel.finish_statistics(end);
        EXPECT_EQ(channel.stats().row_open.value(), (end - kStart) + (end - kStart - 5));
        EXPECT_EQ(channel.stats().any_row_open.value(), end - kStart);
    }
}

// One row is open from 1000 to 1528, the other from 1100 to 1628.
TEST(Channel, CountsHowLongRowsHaveBeenOpenOneOrSeveral) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{499};
    bench.arrive(kStart, kOtherGroup, 7);
    bench.arrive(kStart + 100, 0, 7);
    bench.run();
    bench.channel().finish_statistics(50'000);
    EXPECT_EQ(bench.channel().stats().row_open.value(), 528 + 528);
    EXPECT_EQ(bench.channel().stats().any_row_open.value(), 628);
}

// Each rank has standby of its own: one bank of each is open from 1000 on, a second of one from
// 1005.
TEST(Channel, CountsForEachRankHowLongARowOfItIsOpen) {
    Bench bench;
    bench.config.ranks = 2;
    bench.config.controller.page_policy = "open";
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, kOtherGroup, 7);
    bench.arrive(kStart + 100, 17, 7);  // the other rank
    bench.run(kStart + 500);
    bench.channel().finish_statistics(kStart + 500);
    EXPECT_EQ(bench.channel().stats().row_open.value(), 500 + 495 + 400);
    EXPECT_EQ(bench.channel().stats().any_row_open.value(), 500 + 400);
}

// Commands are decided ahead of the time at which somebody counts.
TEST(Channel, ARowThatIsYetToOpenHasNotBeenOpen) {
    Bench bench;
    bench.arrive(kStart + 100, 0, 7);
    bench.run(kStart + 500);
    bench.channel().finish_statistics(kStart + 50);
    EXPECT_EQ(bench.channel().stats().row_open.value(), 0);
    bench.channel().finish_statistics(kStart + 300);
    EXPECT_EQ(bench.channel().stats().row_open.value(), 200);
    EXPECT_EQ(bench.channel().stats().any_row_open.value(), 200);
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
