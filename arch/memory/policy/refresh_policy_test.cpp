#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "arch/memory/policy/refresh_policies.hpp"

namespace tilesim::arch::memory::policy {
namespace {

device::MemoryConfig two_channels() {
    device::MemoryConfig config;
    config.channels = 2;
    config.timing.tREFI = base::Cycles{3898};
    config.timing.tRFC = base::Cycles{295};
    return config;
}

TEST(AllBankRefresh, ChannelsShareOutTheInterval) {
    device::MemoryConfig config = two_channels();
    config.channels = 4;
    EXPECT_EQ((AllBankRefresh{config, 0}.first()), 3898 / 4);
    EXPECT_EQ((AllBankRefresh{config, 1}.first()), 3898 * 3 / 4);
    EXPECT_EQ((AllBankRefresh{config, 2}.first()), 3898 / 2);
    EXPECT_EQ((AllBankRefresh{config, 3}.first()), 3898);
}

// Banks of each round, lowest first: 16 a rank.
std::vector<std::uint64_t> rounds_of(RefreshPolicy&& policy, int count) {
    std::vector<std::uint64_t> banks;
    for (int i = 0; i < count; ++i, policy.advance(1)) {
        banks.push_back(policy.round().banks);
    }
    return banks;
}

TEST(PartialRefresh, RanksTakeTurns) {
    device::MemoryConfig config = two_channels();
    config.ranks = 2;
    config.bank_groups = 4;
    config.banks_per_group = 4;
    EXPECT_EQ(rounds_of(PerBankRefresh{config, 0}, 4),
              (std::vector<std::uint64_t>{1, 1U << 16U, 2, 2U << 16U}));
    EXPECT_EQ(rounds_of(PairRefresh{config, 0}, 3),
              (std::vector<std::uint64_t>{0x101, 0x101U << 16U, 0x202}));
    EXPECT_EQ(rounds_of(SameBankRefresh{config, 0}, 9)[8], 0x1111U);  // all had their turn
    EXPECT_EQ((PerBankRefresh{config, 0}.round().per_tREFI), 32);
    EXPECT_EQ((PairRefresh{config, 0}.round().per_tREFI), 16);
    EXPECT_EQ((SameBankRefresh{config, 0}.round().per_tREFI), 2 * 8);
}

TEST(AllBankRefresh, RanksTakeTurns) {
    device::MemoryConfig config = two_channels();
    config.ranks = 2;
    config.bank_groups = 4;
    config.banks_per_group = 4;
    EXPECT_EQ(rounds_of(AllBankRefresh{config, 0}, 3),
              (std::vector<std::uint64_t>{0xFFFF, 0xFFFFU << 16U, 0xFFFF}));
    EXPECT_EQ((AllBankRefresh{config, 0}.round().per_tREFI), 2);
}

TEST(RefreshPolicies, OnlyARefreshOfTheWholeChannelLeavesNothingElseToDo) {
    device::MemoryConfig config = two_channels();
    config.timing.tRFC_pb = base::Cycles{101};
    EXPECT_TRUE((AllBankRefresh{config, 0}.round().alone));
    EXPECT_FALSE((PerBankRefresh{config, 0}.round().alone));
    EXPECT_EQ((AllBankRefresh{config, 0}.round().length), 295);
    EXPECT_EQ((PerBankRefresh{config, 0}.round().length), 101);
    config.bank_groups = 4;
    config.ranks = 2;
    EXPECT_FALSE((AllBankRefresh{config, 0}.round().alone));
}

// The next round of the rank, or the same banks again.
TEST(RefreshPolicies, RoundsFollowEachOtherAsSoonAsTheyMay) {
    device::MemoryConfig config = two_channels();
    config.bank_groups = 4;
    config.timing.tRFC_pb = base::Cycles{101};
    config.timing.tREFpb_to_REFpb = base::Cycles{37};
    EXPECT_EQ((AllBankRefresh{config, 0}.round().pace), 295);
    EXPECT_EQ((PerBankRefresh{config, 0}.round().pace), 37);
    config.ranks = 2;
    EXPECT_EQ((AllBankRefresh{config, 0}.round().pace), 148);
    EXPECT_EQ((PerBankRefresh{config, 0}.round().pace), 19);
    config.timing.tREFpb_to_REFpb = base::Cycles{3};
    EXPECT_EQ((SameBankRefresh{config, 0}.round().pace), 13);  // 8 rounds
}

// Of the rounds' own: 3898 CK for 32 banks.
TEST(PartialRefresh, ChannelsShareOutTheIntervalOfARound) {
    EXPECT_EQ((PerBankRefresh{two_channels(), 0}.first()), 3898 / 32 / 2);
    EXPECT_EQ((PerBankRefresh{two_channels(), 1}.first()), 3898 / 32);
    device::MemoryConfig config = two_channels();
    config.controller.refresh_first = base::Cycles{777};
    EXPECT_EQ((PerBankRefresh{config, 1}.first()), 777);
}

// Of 3898 CK, or of a bank's 121: eight of these and 32.
TEST(RefreshPolicies, AreShiftedAroundTheInterval) {
    device::MemoryConfig config = two_channels();
    config.controller.refresh_shift = base::Cycles{1000};
    EXPECT_EQ((AllBankRefresh{config, 0}.first()), 3898 / 2 + 1000);
    EXPECT_EQ((AllBankRefresh{config, 1}.first()), 1000);
    EXPECT_EQ((PerBankRefresh{config, 0}.first()), 60 + 32);
    EXPECT_EQ((PerBankRefresh{config, 1}.first()), 32);
    config.controller.refresh_first = base::Cycles{777};
    EXPECT_EQ((AllBankRefresh{config, 1}.first()), 1777);
}

std::vector<std::int64_t> turns_of(std::size_t channels) {
    std::vector<std::int64_t> turns;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        turns.push_back(refresh_turn(channel, channels));
    }
    return turns;
}

TEST(RefreshPolicies, NeighbouringChannelsAreRefreshedFarApart) {
    EXPECT_EQ(turns_of(1), (std::vector<std::int64_t>{0}));
    EXPECT_EQ(turns_of(4), (std::vector<std::int64_t>{0, 2, 1, 3}));
    EXPECT_EQ(turns_of(6), (std::vector<std::int64_t>{0, 3, 2, 5, 1, 4}));
    EXPECT_EQ(turns_of(8), (std::vector<std::int64_t>{0, 4, 2, 6, 1, 5, 3, 7}));
}

// Four groups of five banks.
TEST(RefreshPolicies, SayWhatTheirRefreshesAreToTheBanks) {
    device::MemoryConfig config;
    config.bank_groups = 4;
    config.banks_per_group = 5;
    const auto expect = [&config](const char* policy, device::Command command, int banks) {
        config.controller.refresh_policy = policy;
        EXPECT_EQ(refreshes_of(config).command, command) << policy;
        EXPECT_EQ(refreshes_of(config).banks, banks) << policy;
    };
    expect("all_bank", device::Command::Refresh, 20);
    expect("per_bank", device::Command::RefreshBank, 1);
    expect("bank_pair", device::Command::RefreshBank, 2);
    expect("same_bank", device::Command::RefreshSame, 4);
}

}  // namespace
}  // namespace tilesim::arch::memory::policy
