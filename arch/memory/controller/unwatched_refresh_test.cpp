// Refreshes of a channel without bursts, which go on while nobody looks, at exact CKs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/memory/controller/channel_bench_testing.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using testing::ElementsAre;

constexpr std::size_t kHeld = 0, kWorking = kOtherGroup;

Heard refresh_of(std::int64_t when, std::size_t bank) {
    return {device::Command::RefreshBank, bank, when};
}

// Bank A's row is held from 40 on, and may close after tRAS; the channel is idle from 65 on. When
// somebody looks at 2000, the refreshes due at 665 and 1290 leave no trace but their count.
TEST(UnwatchedRefresh, ARoundThatHasBegunEndsBeforeTheNextOnes) {
    BankRefreshed bench(40);
    bench.arrive(kStart, kHeld, 7);
    bench.arrive(kStart + 35, kWorking, 7);
    bench.arrive(kStart + 2000, kHeld, 7);
    EXPECT_THAT(
        bench.run(kStart + 2500),
        ElementsAre(act(kStart, kHeld), rd(kStart + 29, kHeld), act(kStart + 35, kWorking),
                    rd(kStart + 64, kWorking), pre(kStart + 67, kHeld), refresh_of(kStart + 101, 0),
                    refresh_of(kStart + 40 + 3 * 10'007 / 16, 3), act(kStart + 2000, kHeld),
                    rd(kStart + 2029, kHeld)));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 4);
}

TEST(UnwatchedRefresh, BanksAreRefreshedInTurn) {
    BankRefreshed bench(40);
    for (std::int64_t i = 0; i < 3; ++i) {
        bench.arrive(kStart + 40 + i * 625, kWorking, 7);
    }
    std::vector<Heard> refreshes;
    for (const Heard& each : bench.run(kStart + 1800)) {
        if (each.command == device::Command::RefreshBank) {
            refreshes.push_back(each);
        }
    }
    EXPECT_THAT(refreshes, ElementsAre(refresh_of(kStart + 40, 0), refresh_of(kStart + 665, 1),
                                       refresh_of(kStart + 1290, 2)));
}

// It closes the row an interval before, so that the one that is due as the burst comes need not.
TEST(UnwatchedRefresh, TheLastOneBeforeABurstIsNotTheOneThatIsDueWithIt) {
    Refreshed bench;
    const std::int64_t second = Refreshed::kInterval / 3 + Refreshed::kInterval;
    const std::int64_t third = second + Refreshed::kInterval;
    bench.arrive(kStart, kHeld, 7);
    bench.arrive(third, kHeld, 7);
    EXPECT_THAT(bench.run(third + 500),
                ElementsAre(act(kStart), rd(kStart + 29), pre_all(second), ref(second + 31),
                            ref(third), act(third + 307), rd(third + 307 + 29)));
}

// One may come every 1000 CK from `first` on; reads of a row keep all of them waiting until kLast.
struct Backlog : Bench {
    Backlog(std::int64_t first, std::int64_t postpone, std::int64_t pull_in) {
        config.refresh = true;
        config.timing.tREFI = base::Cycles{1000};
        config.controller.refresh_first = base::Cycles{first};
        config.controller.refresh_postpone = postpone;
        config.controller.refresh_pull_in = pull_in;
        for (int i = 0; i < kBursts; ++i) {
            arrive(kStart, kHeld, 7);
        }
    }
    static constexpr std::int64_t kBursts = 220;
    static constexpr std::int64_t kLast = kStart + 29 + (kBursts - 1) * 13;
};

// Two wait: in 100 CK one can begin, whose bank closes tRTP after its last read and is refreshed
// tRP later.
TEST(UnwatchedRefresh, ABacklogIsMadeUpForFromTheLastBurstOn) {
    Backlog bench(2000, 2, 0);
    const std::int64_t last = Backlog::kLast;
    bench.arrive(last + 101, kHeld, 7);
    bench.run(last + 500);
    const std::int64_t refreshed = last + 17 + 31 + 307;
    EXPECT_EQ(bench.heard.back(), rd(refreshed + 29));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 1);
}

// Three are made ahead one after the other; the third, which has closed the row, began a CK before
// the burst.
TEST(UnwatchedRefresh, ABurstWaitsForTheOneOfABacklogThatHasJustBegun) {
    Backlog bench(1500, 0, 3);
    const std::int64_t third = Backlog::kLast + 1 + 2 * 307;
    bench.arrive(third + 31 + 1, kHeld, 8);
    bench.run(third + 1000);
    bench.heard.erase(bench.heard.begin(), bench.heard.end() - 4);
    const std::int64_t refreshed = third + 31 + 307;
    EXPECT_THAT(bench.heard,
                ElementsAre(pre_all(third), ref(third + 31), act(refreshed), rd(refreshed + 29)));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 3);
}

// Banks are refreshed 37 CK apart, not one after the end of the other: five begin before the burst,
// whose bank is the fifth. Before, reads of a bank whose turn has not come keep six waiting.
TEST(UnwatchedRefresh, ABacklogOfSomeBanksIsMadeUpForAtTheirPace) {
    constexpr std::int64_t kBursts = 400;
    constexpr std::size_t kBusy = 12;
    BankRefreshed bench(1000);
    bench.config.controller.refresh_pull_in = 8;
    bench.config.timing.tREFpb_to_REFpb = base::Cycles{37};
    for (std::int64_t i = 0; i < kBursts; ++i) {
        bench.arrive(kStart, kBusy, 7);
    }
    const std::int64_t fifth = kStart + 29 + (kBursts - 1) * 13 + 1 + 4 * 37;
    bench.arrive(fifth + 1, kOtherGroup, 7);
    bench.run(fifth + 500);
    bench.heard.erase(bench.heard.begin(), bench.heard.end() - 3);
    EXPECT_THAT(bench.heard,
                ElementsAre(refresh_of(fifth, kOtherGroup), act(fifth + 151, kOtherGroup),
                            rd(fifth + 151 + 29, kOtherGroup)));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 5);
}

// Two ranks of 16 banks in 1000 CK: a round every 31.25, not every 31.
TEST(UnwatchedRefresh, EveryBankHasItsTurnOnceAnInterval) {
    BankRefreshed bench(0);
    bench.config.ranks = 2;
    bench.config.timing.tREFI = base::Cycles{1000};
    bench.arrive(kStart + 100 * 1000 - 1, kHeld, 7);
    bench.run(kStart + 100 * 1000);
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 100 * 32);
}

// Writes are served from 50 on; the refresh of bank A began before.
TEST(UnwatchedRefresh, ARefreshThatHasBegunDoesNotWaitForWritesAsOneThatIsDueMay) {
    BankRefreshed bench(40);
    bench.config.controller.refresh_after_writes = true;
    bench.config.controller.write_high = 2;
    bench.config.controller.write_low = 0;
    bench.arrive(kStart, kHeld, 7);
    bench.arrive(kStart + 35, kWorking, 7);
    bench.arrive(kStart + 50, kWorking, 7, true);
    bench.arrive(kStart + 50, kWorking, 7, true);
    const std::int64_t write = kStart + 64 + 23 + 4 + 2 - 19;  // the bus turns
    EXPECT_THAT(bench.run(kStart + 500),
                ElementsAre(act(kStart, kHeld), rd(kStart + 29, kHeld), act(kStart + 35, kWorking),
                            rd(kStart + 64, kWorking), pre(kStart + 67, kHeld), wr(write, kWorking),
                            refresh_of(kStart + 101, 0), wr(write + 37, kWorking)));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
