#include <gtest/gtest.h>

#include "arch/memory/policy/page_policies.hpp"

namespace tilesim::arch::memory::policy {
namespace {

constexpr std::size_t kBank = 3;
constexpr std::size_t kOther = 5;
constexpr std::int64_t kRow = 7;

device::ControllerConfig controller() {
    device::ControllerConfig config;
    config.page_timeout = base::Cycles{320};
    return config;
}

TEST(PagePolicies, AreListedByName) {
    std::vector<std::string> names;
    for (const auto& [name, value] : PagePolicies::names()) {
        names.push_back(value);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"open", "closed", "timeout", "adaptive",
                                               "closed_adaptive", "cap"}));
}

TEST(PagePolicies, FixedOnesWaitForEverNotAtAllOrAsLongAsAsked) {
    EXPECT_TRUE(OpenPage{controller()}.always_open());
    EXPECT_EQ(ClosedPage{controller()}.idle_limit(kBank), 0);
    EXPECT_EQ(TimeoutPage{controller()}.idle_limit(kBank), 320);
}

TEST(PagePolicies, AColumnClosesItsRowWhereNoOtherWaitsOrAsTheSoManieth) {
    EXPECT_FALSE(OpenPage{controller()}.may_auto_precharge());
    const ClosedAdaptivePage last{controller()};
    EXPECT_TRUE(last.may_auto_precharge());
    EXPECT_TRUE(last.auto_precharge(1, false));
    EXPECT_FALSE(last.auto_precharge(100, true));
    device::ControllerConfig config = controller();
    config.page_cap = 3;
    const CapPage cap{config};
    EXPECT_TRUE(cap.may_auto_precharge());
    EXPECT_FALSE(cap.auto_precharge(2, false));
    EXPECT_TRUE(cap.auto_precharge(3, true));
}

// Four conflicts lie between the middle of the counter and its upper threshold.
TEST(AdaptivePage, HalvesABanksTimeoutAfterFourConflictsThere) {
    AdaptivePage policy{controller()};
    for (int i = 0; i < 3; ++i) {
        policy.on_conflict(kBank);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 320);
    policy.on_conflict(kBank);
    EXPECT_EQ(policy.idle_limit(kBank), 160);
    EXPECT_EQ(policy.idle_limit(kOther), 320);
}

TEST(AdaptivePage, DoublesABanksTimeoutAfterFourRowsThatWereWantedAgain) {
    AdaptivePage policy{controller()};
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(policy.idle_limit(kBank), 320);
        policy.on_idle_close(kBank, kRow);
        policy.on_open(kBank, kRow);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 640);
    EXPECT_EQ(policy.idle_limit(kOther), 320);
}

TEST(AdaptivePage, ARowClosedInTimeIsNoMistake) {
    AdaptivePage policy{controller()};
    for (int i = 0; i < 100; ++i) {
        policy.on_idle_close(kBank, kRow);
        policy.on_open(kBank, kRow + 1);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 320);
}

TEST(AdaptivePage, ARowThatComesBackAfterAnotherIsNoMistake) {
    AdaptivePage policy{controller()};
    for (int i = 0; i < 4; ++i) {
        policy.on_idle_close(kBank, kRow);
        policy.on_open(kBank, kRow + 1);
        policy.on_open(kBank, kRow);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 320);
}

TEST(AdaptivePage, OppositeMistakesCancel) {
    AdaptivePage policy{controller()};
    for (int i = 0; i < 100; ++i) {
        policy.on_conflict(kBank);
        policy.on_idle_close(kBank, kRow);
        policy.on_open(kBank, kRow);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 320);
}

TEST(AdaptivePage, StaysWithinASixteenthAndSixteenTimesOfWhereItBegan) {
    AdaptivePage policy{controller()};
    for (int i = 0; i < 100; ++i) {
        policy.on_conflict(kBank);
        policy.on_idle_close(kOther, kRow);
        policy.on_open(kOther, kRow);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 320 / 16);
    EXPECT_EQ(policy.idle_limit(kOther), 320 * 16);
}

// A sixteenth of it would be none.
TEST(AdaptivePage, LeavesARowOpenForACycleAtLeast) {
    device::ControllerConfig config;
    config.page_timeout = base::Cycles{8};
    AdaptivePage policy{config};
    for (int i = 0; i < 100; ++i) {
        policy.on_conflict(kBank);
    }
    EXPECT_EQ(policy.idle_limit(kBank), 1);
}

}  // namespace
}  // namespace tilesim::arch::memory::policy
