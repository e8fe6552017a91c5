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
    EXPECT_THAT(bench.run(kStart + 2500),
                ElementsAre(act(kStart, kHeld), rd(kStart + 29, kHeld), act(kStart + 35, kWorking),
                            rd(kStart + 64, kWorking), pre(kStart + 67, kHeld),
                            refresh_of(kStart + 101, 0), refresh_of(kStart + 40 + 3 * 625, 3),
                            act(kStart + 2000, kHeld), rd(kStart + 2029, kHeld)));
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

// One is due every 1000 CK from 2000 on, two of which wait until 3877: in 100 CK one can begin,
// whose bank closes tRTP after its last read and is refreshed tRP later.
TEST(UnwatchedRefresh, ABacklogIsMadeUpForFromTheLastBurstOn) {
    Bench bench;
    bench.config.refresh = true;
    bench.config.timing.tREFI = base::Cycles{1000};
    bench.config.controller.refresh_first = base::Cycles{2000};
    bench.config.controller.refresh_postpone = 2;
    for (int i = 0; i < 220; ++i) {
        bench.arrive(kStart, kHeld, 7);
    }
    const std::int64_t last = kStart + 29 + 219 * 13;
    bench.arrive(last + 101, kHeld, 7);
    bench.run(last + 500);
    const std::int64_t refreshed = last + 17 + 31 + 307;
    EXPECT_EQ(bench.heard.back(), rd(refreshed + 29));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 1);
}

// Three are made ahead one after the other from 0 on; the third began a CK before the burst.
TEST(UnwatchedRefresh, ABurstWaitsForTheOneOfABacklogThatHasJustBegun) {
    Refreshed bench;
    bench.config.controller.refresh_first = base::Cycles{2000};
    bench.config.controller.refresh_pull_in = 3;
    bench.arrive(2 * 307 + 1, kHeld, 7);
    EXPECT_THAT(bench.run(1500), ElementsAre(ref(614), act(921), rd(921 + 29)));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 3);
}

// Banks are refreshed 37 CK apart, not one after the end of the other: five begin before the burst,
// whose bank is the fifth.
TEST(UnwatchedRefresh, ABacklogOfSomeBanksIsMadeUpForAtTheirPace) {
    BankRefreshed bench(0);
    bench.config.controller.refresh_first = base::Cycles{2000};
    bench.config.controller.refresh_pull_in = 8;
    bench.config.timing.tREFpb_to_REFpb = base::Cycles{37};
    bench.arrive(4 * 37 + 1, kOtherGroup, 7);
    EXPECT_THAT(bench.run(600),
                ElementsAre(refresh_of(4 * 37, kOtherGroup), act(4 * 37 + 151, kOtherGroup),
                            rd(4 * 37 + 151 + 29, kOtherGroup)));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 5);
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
