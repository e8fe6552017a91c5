// A channel lent to a guest, at exact CKs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "arch/memory/controller/channel_bench_testing.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using testing::ElementsAre;

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
    EXPECT_THAT(bench.run(), ElementsAre(act(kStart), rd(kStart + 29), pre_all(kStart + 500),
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

TEST(Channel, WritesAreTakenOverWhileTheChannelIsLent) {
    Bench bench;
    Guest guest;
    bench.channel().invite(guest, kStart);
    bench.arrive(kStart + 100, 0, 7, true);
    bench.arrive(kStart + 150, 0, 7, true);
    bench.channel().run(kStart, kStart + 500);
    EXPECT_THAT(bench.done, ElementsAre(std::pair(0U, kStart + 100), std::pair(1U, kStart + 150)));
    const std::int64_t open = kStart + 212;
    EXPECT_THAT(bench.heard, ElementsAre(act(open), wr(open + 29), wr(open + 29 + 37)));
}

TEST(Channel, BurstsThatWaitGiveWayToAGuest) {
    Bench bench;
    Guest guest;
    for (int i = 0; i < 20; ++i) {
        bench.arrive(kStart, 0, 7);
    }
    bench.channel().invite(guest, kStart + 100);
    bench.run();
    const std::int64_t last = kStart + 29 + 5 * 13;  // RD before he comes
    const std::int64_t quiet = last + 17 + 31;       // tRTP, tRP
    EXPECT_EQ(bench.heard[6], rd(last));
    EXPECT_EQ(bench.heard[7], pre_all(last + 17));
    EXPECT_EQ(bench.heard[8], act(quiet + 211 + 1));
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(quiet, INT64_MAX)));
}

TEST(Channel, EveryRowClosesWithOnePrechargeForAGuest) {
    Bench bench;
    bench.config.timing.tRPab = base::Cycles{53};
    Guest guest;
    bench.arrive(kStart, 0, 7);
    bench.arrive(kStart, kOtherGroup, 7);
    bench.channel().invite(guest, kStart + 500);
    bench.run();
    EXPECT_EQ(bench.heard[4], pre_all(kStart + 500));
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(kStart + 500 + 53, INT64_MAX)));
    EXPECT_EQ(bench.channel().stats().precharges.value(), 1);
}

TEST(Channel, AGuestComesAgainWhenHeSaysHeWill) {
    struct Returning : Guest {
        std::optional<std::int64_t> on_left(std::int64_t now) override {
            Guest::on_left(now);
            left = std::exchange(visits, visits - 1);
            return left > 0 ? std::optional{now + 307} : std::nullopt;
        }
        int visits = 1;
    } guest;
    Bench bench;
    bench.channel().invite(guest, kStart);
    bench.channel().run(kStart, 10'000);
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(kStart, INT64_MAX),
                                         std::pair(kStart + 211 + 307, INT64_MAX)));
    EXPECT_TRUE(bench.channel().idle());
}

TEST(Channel, ARefreshThatIsDueBeforeAGuestComesDoesNotWaitForHim) {
    Refreshed bench;
    Guest guest;
    const std::int64_t due = Refreshed::kInterval / 3;
    bench.channel().invite(guest, due + 1000);
    bench.channel().run(kStart, due + 5000);
    EXPECT_THAT(bench.heard, ElementsAre(ref(due)));
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(due + 1000, due + Refreshed::kInterval)));
}

// The bank's row was opened at 0 and may close at 67; it is refreshed after tRC.
TEST(Channel, AGuestWaitsForARefreshOfABankThatHasBegun) {
    BankRefreshed bench(40);
    Guest guest;
    bench.arrive(kStart, 0, 7);
    bench.channel().invite(guest, kStart + 50);
    EXPECT_THAT(bench.run(kStart + 600),
                ElementsAre(act(kStart), rd(kStart + 29), pre(kStart + 67),
                            Heard{device::Command::RefreshBank, 0, kStart + 101}));
    EXPECT_THAT(guest.turns, ElementsAre(std::pair(kStart + 101 + 151, kStart + 40 + 625)));
}

// Refreshes may go ahead from when the guest has left.
TEST(Channel, AChannelIsIdleFromWhenItsGuestHasLeft) {
    Refreshed bench;
    Guest guest;
    bench.config.controller.refresh_first = base::Cycles{kStart + 100};
    bench.config.controller.refresh_pull_in = 3;
    bench.channel().invite(guest, kStart);
    const std::int64_t left = kStart + 211;
    bench.channel().run(kStart, kStart + 500);
    bench.arrive(kStart + 500, 0, 7);
    EXPECT_THAT(bench.run(kStart + 900),
                ElementsAre(ref(left), act(left + 307), rd(left + 307 + 29)));
    EXPECT_EQ(bench.channel().stats().refreshes.value(), 1);
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
