// The commands that first-ready scheduling plans ahead: what joins a plan, and what has to throw it
// away, to the CK.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/memory/controller/channel_bench_testing.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kOrigin = 1000;
constexpr std::size_t kA = 0, kB = 4;  // banks of two groups

Heard bank_refresh(std::int64_t when) {
    return {device::Command::RefreshBank, kA, when};
}

// B closes first, but opened later than A: its ACT waits for 33 + tRC, that of A for 102 + tRP.
TEST(RowPlans, ABankThatHasJustClosedMayOpenBeforeTheOnePlanned) {
    Bench bench;
    bench.arrive(kOrigin, kA, 7);
    bench.arrive(kOrigin + 33, kB, 7);
    bench.arrive(kOrigin + 34, kB, 8);
    bench.arrive(kOrigin + 85, kA, 7);
    bench.arrive(kOrigin + 86, kA, 8);
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA), act(kOrigin + 33, kB),
                            rd(kOrigin + 33 + 29, kB), rd(kOrigin + 85, kA),
                            pre(kOrigin + 33 + 67, kB), pre(kOrigin + 85 + 17, kA),
                            act(kOrigin + 102 + 31, kA), act(kOrigin + 133 + 5, kB),
                            rd(kOrigin + 133 + 29, kA), rd(kOrigin + 162 + 11, kB)));
}

// The same with A's second use so much later that B, which was planned, opens first.
TEST(RowPlans, ABankThatHasJustClosedWaitsForTheOnePlannedBeforeIt) {
    Bench bench;
    bench.arrive(kOrigin, kA, 7);
    bench.arrive(kOrigin + 33, kB, 7);
    bench.arrive(kOrigin + 34, kB, 8);
    bench.arrive(kOrigin + 89, kA, 7);
    bench.arrive(kOrigin + 90, kA, 8);
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA), act(kOrigin + 33, kB),
                            rd(kOrigin + 33 + 29, kB), rd(kOrigin + 89, kA),
                            pre(kOrigin + 33 + 67, kB), pre(kOrigin + 89 + 17, kA),
                            act(kOrigin + 33 + 101, kB), act(kOrigin + 134 + 5, kA),
                            rd(kOrigin + 134 + 29, kB), rd(kOrigin + 163 + 11, kA)));
}

// PRE was planned for tRAS; the hit puts it off by tRTP.
TEST(RowPlans, AHitThatComesPutsThePlannedPrechargeOff) {
    Bench bench;
    bench.arrive(kOrigin, kA, 7);
    bench.arrive(kOrigin, kA, 8);
    bench.arrive(kOrigin + 60, kA, 7);
    EXPECT_THAT(bench.run(), ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA),
                                         rd(kOrigin + 60, kA), pre(kOrigin + 60 + 17, kA),
                                         act(kOrigin + 77 + 31, kA), rd(kOrigin + 108 + 29, kA)));
}

TEST(RowPlans, ARowIsClosedAlthoughABurstOfTheOtherDirectionHitsIt) {
    Bench bench;
    bench.arrive(kOrigin, kA, 7);
    bench.arrive(kOrigin, kA, 8);
    bench.arrive(kOrigin, kA, 7, true);
    EXPECT_THAT(bench.run(), ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA),
                                         pre(kOrigin + 67, kA), act(kOrigin + 101, kA),
                                         rd(kOrigin + 130, kA), pre(kOrigin + 101 + 67, kA),
                                         act(kOrigin + 202, kA), wr(kOrigin + 202 + 29, kA)));
}

struct OwedRow : Bench {
    explicit OwedRow(bool refresh = false) {
        config.controller.write_high = 2;
        config.controller.write_low = 0;
        config.refresh = refresh;
        config.controller.refresh_first = base::Cycles{kOrigin + 20};
        arrive(kOrigin, kA, 7);
        arrive(kOrigin + 10, kA, 8, true);
        arrive(kOrigin + 10, kA, 8, true);
    }
};

// Writes are served from 10 on; the row that has been opened for the read waits for it.
TEST(RowPlans, ARowOwedToAReadIsClosedForAWriteOnceItIsRead) {
    OwedRow bench;
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA), pre(kOrigin + 67, kA),
                            act(kOrigin + 101, kA), wr(kOrigin + 130, kA), wr(kOrigin + 167, kA)));
}

// Two writes to an open row begin to be served at 28, a CK before the first of two reads whose rows
// have been opened can go.
struct TurnToWrites : Bench {
    explicit TurnToWrites(std::int64_t write_latency) {
        constexpr std::size_t kOpen = 8;
        config.controller.write_high = 2;
        config.controller.write_low = 0;
        config.timing.write_latency = base::Cycles{write_latency};
        arrive(kOrigin - 200, kOpen, 7);
        arrive(kOrigin, kA, 7);
        arrive(kOrigin, kB, 7);
        arrive(kOrigin + 28, kOpen, 7, true);
        arrive(kOrigin + 28, kOpen, 7, true);
    }
    std::vector<Heard> columns() {
        std::vector<Heard> found;
        for (const Heard& each : run()) {
            if (each.when > kOrigin && each.command != device::Command::Activate) {
                found.push_back(each);
            }
        }
        return found;
    }
};

// The RD of bank B can go at 40, tCCD_S after the other's, the first WR at 32: 31 CK later are its
// data, as those of the RD, which come 23 after it.
TEST(RowPlans, AReadWhoseDataComeNoLaterThanAWritesGoesBeforeTheTurn) {
    EXPECT_THAT(TurnToWrites(31).columns(),
                ElementsAre(rd(kOrigin + 29, kA), rd(kOrigin + 40, kB), wr(kOrigin + 43, 8),
                            wr(kOrigin + 43 + 37, 8)));
}

TEST(RowPlans, AReadWhoseDataWouldComeLaterWaits) {
    const std::int64_t turned = kOrigin + 32 + 30 + 4 + 3;  // tWTR_S
    EXPECT_THAT(TurnToWrites(30).columns(), ElementsAre(rd(kOrigin + 29, kA), wr(kOrigin + 32, 8),
                                                        rd(turned, kB), wr(turned + 3, 8)));
}

TEST(RowPlans, ARowThatARefreshHasClosedIsOwedToNobody) {
    OwedRow bench(true);
    const std::int64_t refreshed = kOrigin + 101;  // tRC
    const std::int64_t open = refreshed + 307;
    const std::int64_t last = open + 29 + 37;
    const std::int64_t closed = last + 19 + 4 + 41;
    EXPECT_THAT(bench.run(kOrigin + 2000),
                ElementsAre(act(kOrigin, kA), pre_all(kOrigin + 67),
                            Heard{device::Command::Refresh, kA, refreshed}, act(open, kA),
                            wr(open + 29, kA), wr(last, kA), pre(closed, kA), act(closed + 31, kA),
                            rd(closed + 31 + 29, kA)));
}

// PRE of bank A was planned for tRAS; that of bank B, idle for 50 CK, comes 5 CK before.
TEST(RowPlans, APrechargeThatWasPlannedKeepsItsDistanceFromThatOfAnIdleRow) {
    Bench bench;
    bench.config.controller.page_policy = "timeout";
    bench.config.controller.page_timeout = base::Cycles{50};
    bench.config.timing.tPPD = base::Cycles{9};
    bench.arrive(kOrigin - 17, kB, 7);
    bench.arrive(kOrigin, kA, 7);
    bench.arrive(kOrigin, kA, 8);
    bench.run(kOrigin + 100);
    const std::vector<Heard> first(bench.heard.begin(), bench.heard.begin() + 6);
    EXPECT_THAT(
        first, ElementsAre(act(kOrigin - 17, kB), act(kOrigin, kA), rd(kOrigin + 12, kB),
                           rd(kOrigin + 29, kA), pre(kOrigin + 62, kB), pre(kOrigin + 62 + 9, kA)));
}

// A fifth ACT was planned for the end of a window that is longer than tRAS and tRP.
TEST(RowPlans, AnActivateThatWasPlannedWaitsForTheRefreshBeforeIt) {
    Bench bench;
    bench.config.timing.tFAW = base::Cycles{211};
    bench.config.refresh = true;
    bench.config.controller.refresh_first = base::Cycles{kOrigin + 100};
    for (const std::size_t bank : {0U, 4U, 8U, 12U, 5U}) {
        bench.arrive(kOrigin, bank, 7);
    }
    const std::vector<Heard> heard = bench.run(kOrigin + 2000);
    const std::int64_t refreshed = kOrigin + 100 + 31;  // PRE, tRP
    ASSERT_GE(heard.size(), 3U);
    EXPECT_EQ(heard[heard.size() - 3], (Heard{device::Command::Refresh, 0, refreshed}));
    EXPECT_EQ(heard[heard.size() - 2], act(refreshed + 307, 5));
}

// RD to the row of bank 1 was planned for the end of a turn of the bus that is longer than writing
// to its neighbour, closing it and a refresh's wait for that.
TEST(RowPlans, AReadThatWasPlannedIsNoneOnceARefreshHasClosedItsRow) {
    Bench bench;
    bench.config.controller.write_high = 1;
    bench.config.controller.write_low = 0;
    bench.config.timing.tWTR_L = base::Cycles{120};
    bench.config.refresh = true;
    bench.config.controller.refresh_first = base::Cycles{kOrigin + 40};
    bench.arrive(kOrigin - 500, 1, 7);
    bench.arrive(kOrigin, kA, 7, true);
    bench.arrive(kOrigin + 30, 1, 7);
    const std::int64_t closed = kOrigin + 29 + 19 + 4 + 41;
    const std::int64_t open = closed + 31 + 307;
    bench.run(kOrigin + 2000);
    const std::vector<Heard> last(bench.heard.begin() + 2, bench.heard.end());
    EXPECT_THAT(last, ElementsAre(act(kOrigin, kA), wr(kOrigin + 29, kA), pre_all(closed),
                                  ref(closed + 31), act(open, 1), rd(open + 29, 1)));
}

// RD was planned for 29.
TEST(RowPlans, ABankWhoseRefreshIsDueTakesNoColumnCommandThatWasPlanned) {
    BankRefreshed bench(20);
    bench.arrive(kOrigin, kA, 7);
    const std::int64_t refreshed = kOrigin + 101;  // tRC
    EXPECT_THAT(bench.run(kOrigin + 500),
                ElementsAre(act(kOrigin, kA), pre(kOrigin + 67, kA), bank_refresh(refreshed),
                            act(refreshed + 151, kA), rd(refreshed + 151 + 29, kA)));
}

// The refresh of bank A has PRE planned anew.
TEST(RowPlans, ARowThatABurstOfTheOtherDirectionHitsIsPlannedToCloseAnew) {
    BankRefreshed bench(40);
    bench.arrive(kOrigin, kB, 7);
    bench.arrive(kOrigin, kB, 8);
    bench.arrive(kOrigin, kB, 7, true);
    EXPECT_THAT(bench.run(kOrigin + 500),
                ElementsAre(act(kOrigin, kB), rd(kOrigin + 29, kB), bank_refresh(kOrigin + 40),
                            pre(kOrigin + 67, kB), act(kOrigin + 101, kB), rd(kOrigin + 130, kB),
                            pre(kOrigin + 168, kB), act(kOrigin + 202, kB), wr(kOrigin + 231, kB)));
}

// ACT of the other bank was planned for 101.
TEST(RowPlans, ARefreshOfABankPutsOffAnActivateThatWasPlanned) {
    BankRefreshed bench(95);
    bench.config.timing.tREFpb_to_ACT = base::Cycles{53};
    bench.arrive(kOrigin, kB, 7);
    bench.arrive(kOrigin, kB, 8);
    EXPECT_THAT(bench.run(kOrigin + 500),
                ElementsAre(act(kOrigin, kB), rd(kOrigin + 29, kB), pre(kOrigin + 67, kB),
                            bank_refresh(kOrigin + 95), act(kOrigin + 95 + 53, kB),
                            rd(kOrigin + 148 + 29, kB)));
}

// Its bank can be refreshed at tRC; an ACT elsewhere that is tRRD before that does not put it off.
TEST(RowPlans, AnActivateWellBeforeTheRefreshOfABankDoesNotGiveWay) {
    BankRefreshed bench(20);
    bench.arrive(kOrigin, kA, 7);
    bench.arrive(kOrigin + 80, kB, 7);
    EXPECT_THAT(bench.run(kOrigin + 500),
                ElementsAre(act(kOrigin, kA), pre(kOrigin + 67, kA), act(kOrigin + 80, kB),
                            bank_refresh(kOrigin + 101), rd(kOrigin + 80 + 29, kB),
                            act(kOrigin + 101 + 151, kA), rd(kOrigin + 252 + 29, kA)));
}

// Bank A can be refreshed at 5 + tRC; ACT of the other, planned for 101, would come in between.
TEST(RowPlans, AnActivateThatWasPlannedGivesWayToARefreshThatWaitsForItsBank) {
    BankRefreshed bench(50);
    bench.arrive(kOrigin, kB, 7);
    bench.arrive(kOrigin, kB, 8);
    bench.arrive(kOrigin + 3, kA, 7);
    const std::int64_t refreshed = kOrigin + 5 + 101;
    EXPECT_THAT(
        bench.run(kOrigin + 500),
        ElementsAre(act(kOrigin, kB), act(kOrigin + 5, kA), rd(kOrigin + 29, kB),
                    rd(kOrigin + 40, kA), pre(kOrigin + 67, kB), pre(kOrigin + 72, kA),
                    bank_refresh(refreshed), act(refreshed + 3, kB), rd(refreshed + 32, kB)));
}

// Writes to open rows keep the read from the data bus beyond tRAS; the writes to its bank come
// last.
TEST(RowPlans, ARowOwedToAReadIsNotClosedForAWriteThatComesLater) {
    for (const std::size_t owed : {kA, std::size_t{2}}) {
        Bench bench;
        bench.config.controller.write_high = 5;
        bench.config.controller.write_low = 2;
        for (const std::size_t bank : {4U, 8U, 12U}) {
            bench.arrive(kOrigin - 500, bank, 7, true);
        }
        bench.arrive(kOrigin, owed, 7);
        for (const std::size_t bank : {4U, 8U, 12U, 4U, 8U, 12U}) {
            bench.arrive(kOrigin + 24, bank, 7, true);
        }
        bench.arrive(kOrigin + 40, owed, 8, true);
        bench.arrive(kOrigin + 40, owed, 8, true);
        std::vector<device::Command> commands;
        std::int64_t read = 0;
        for (const Heard& each : bench.run()) {
            if (each.bank == owed) {
                commands.push_back(each.command);
                read = each.command == device::Command::Read ? each.when : read;
            }
        }
        EXPECT_GT(read, kOrigin + 67);
        EXPECT_THAT(commands, ElementsAre(device::Command::Activate, device::Command::Read,
                                          device::Command::Precharge, device::Command::Activate,
                                          device::Command::Write, device::Command::Write));
    }
}

TEST(RowPlans, ARowThatItsLastColumnHasClosedIsOpenedAnewForWhoWaits) {
    Bench bench;
    bench.config.controller.page_policy = "cap";
    bench.config.controller.page_cap = 2;
    for (int i = 0; i < 3; ++i) {
        bench.arrive(kOrigin, kA, 7);
    }
    EXPECT_THAT(bench.run(), ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA),
                                         Heard{device::Command::ReadPrecharge, kA, kOrigin + 42},
                                         act(kOrigin + 101, kA), rd(kOrigin + 130, kA)));
}

// Columns are counted anew in every row.
TEST(RowPlans, ACapOfColumnsIsThatOfARow) {
    Bench bench;
    bench.config.controller.page_policy = "cap";
    bench.config.controller.page_cap = 3;
    for (const std::int64_t row : {7, 7, 8, 8}) {
        bench.arrive(kOrigin, kA, row);
    }
    EXPECT_THAT(bench.run(),
                ElementsAre(act(kOrigin, kA), rd(kOrigin + 29, kA), rd(kOrigin + 42, kA),
                            pre(kOrigin + 67, kA), act(kOrigin + 101, kA), rd(kOrigin + 130, kA),
                            rd(kOrigin + 143, kA)));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
