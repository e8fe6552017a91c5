// Refreshes of a channel among its bursts, at exact CKs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "arch/memory/controller/channel_bench_testing.hpp"
#include "arch/memory/policy/refresh_policy.hpp"

namespace tilesim::arch::memory::controller {

namespace {

using testing::ElementsAre;

TEST(Channel, ChannelsRefreshOneAfterTheOther) {
    for (const std::size_t index : {0U, 1U, 2U}) {
        Refreshed bench;
        bench.index = index;
        const std::int64_t due = Refreshed::kInterval * (policy::refresh_turn(index, 3) + 1) / 3;
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
    EXPECT_THAT(bench.run(due + 1000), ElementsAre(act(due - 1), pre_all(closed), ref(refreshed),
                                                   act(refreshed + 307), rd(refreshed + 307 + 29)));
}

TEST(Channel, EveryRowClosesWithOnePrechargeBeforeARefresh) {
    Refreshed bench;
    bench.config.timing.tRPab = base::Cycles{53};
    const std::int64_t due = Refreshed::kInterval / 3;
    for (const std::size_t bank : {0U, 4U, 8U}) {
        bench.arrive(kStart, bank, 7);
    }
    bench.arrive(due, 12, 7);
    const std::int64_t open = due + 53 + 307;
    const std::vector<Heard> heard = bench.run(due + 1000);
    EXPECT_THAT(std::vector(heard.end() - 4, heard.end()),
                ElementsAre(pre_all(due), ref(due + 53), act(open, 12), rd(open + 29, 12)));
    bench.channel().finish_statistics(open);
    EXPECT_EQ(bench.channel().stats().row_open.value(), 3 * (due - kStart) - 5 - 10);
    EXPECT_EQ(bench.channel().stats().any_row_open.value(), due - kStart);
}

// The last of them to have its time decides.
TEST(Channel, OnePrechargeOfAllBanksWaitsForEachOfThem) {
    Refreshed bench;
    const std::int64_t due = Refreshed::kInterval / 3;
    bench.arrive(kStart, 0, 7);
    bench.arrive(due - 50, 4, 7);
    bench.arrive(due, 4, 8);
    const std::vector<Heard> heard = bench.run(due + 1000);
    const std::int64_t closed = due - 50 + 67;  // tRAS
    EXPECT_THAT(std::vector(heard.end() - 4, heard.end() - 2),
                ElementsAre(pre_all(closed), ref(closed + 34)));  // tRC after its ACT
}

TEST(Channel, OfAPairsRowsThatMayCloseThatOfTheHigherBankDoesFirst) {
    BankRefreshed bench(500);
    bench.config.controller.refresh_policy = "bank_pair";
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, 8, 7);
    bench.arrive(kStart + 500, 4, 7);
    const std::vector<Heard> heard = bench.run(kStart + 1000);
    EXPECT_THAT(std::vector(heard.begin() + 4, heard.begin() + 7),
                ElementsAre(pre(kStart + 500, 8), pre(kStart + 501), act(kStart + 502, 4)));
}

// Ranks are refreshed in turn, the first one first.
TEST(Channel, TheRowsOfARankThatIsNotRefreshedStayOpen) {
    Refreshed bench;
    bench.config.ranks = 2;
    bench.config.timing.tRPab = base::Cycles{53};
    bench.config.controller.refresh_first = base::Cycles{kStart + 500};
    constexpr std::size_t kOtherRank = 17;
    bench.arrive(kStart, kOtherRank, 7);
    bench.arrive(kStart + 500, kOtherRank, 7);
    bench.arrive(kStart + 600, kOtherRank, 7);
    bench.arrive(kStart + 100, 0, 7);
    bench.arrive(kStart + 100, 4, 7);
    const std::vector<Heard> heard = bench.run(kStart + 1000);
    EXPECT_THAT(std::vector(heard.end() - 4, heard.end()),
                ElementsAre(pre_all(kStart + 500), rd(kStart + 501, kOtherRank),
                            ref(kStart + 500 + 53), rd(kStart + 600, kOtherRank)));
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

// Two intervals behind while bursts wait, and then at their rate; those that were done ahead before
// the run are as good as put off.
TEST(Channel, RefreshesArePutOffAsOftenAsTheyMayWhileBurstsWait) {
    for (const std::int64_t ahead : {0, 1, 2}) {
        Postponed bench;
        bench.config.controller.refresh_postpone = 2 - ahead;
        bench.config.controller.refresh_pull_in = ahead;
        bench.config.controller.read_queue = 1;
        constexpr std::int64_t kBursts = 3200;
        for (std::int64_t i = 0; i < kBursts; ++i) {
            bench.arrive(kStart, 0, 7);  // every 13 CK, until beyond the fourth interval
        }
        const std::vector<std::int64_t> when = bench.refreshes(42'000);
        const std::int64_t due = 2000 + 2 * Refreshed::kInterval;
        ASSERT_EQ(when.size(), 2U) << ahead;
        // The last RD went less than tCCD_L before; its row closes tRTP after it, the bank tRP
        // later.
        EXPECT_GE(when[0], due + 31) << ahead;
        EXPECT_LT(when[0], due + 17 + 31) << ahead;
        EXPECT_GE(when[1], due + Refreshed::kInterval + 31) << ahead;
        EXPECT_LT(when[1], due + Refreshed::kInterval + 17 + 31) << ahead;
    }
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

// Idle before the run, it has done three ahead and may do the next at CK 2000.
TEST(Channel, AnIdleChannelRefreshesAheadAlsoBeforeTheRun) {
    Postponed bench;
    bench.config.controller.refresh_postpone = 0;
    bench.config.controller.refresh_pull_in = 3;
    bench.arrive(2, 0, 7);
    bench.arrive(2000 + 100, 1, 7);
    EXPECT_THAT(bench.run(3000), ElementsAre(act(2), rd(2 + 29), pre_all(2000), ref(2000 + 31),
                                             act(2000 + 31 + 307, 1), rd(2000 + 31 + 307 + 29, 1)));
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

}  // namespace

}  // namespace tilesim::arch::memory::controller
