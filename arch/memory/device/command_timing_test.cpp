#include "arch/memory/device/command_timing.hpp"

#include <gtest/gtest.h>

#include "arch/memory/device/prime_timing_testing.hpp"

namespace tilesim::arch::memory::device {
namespace {

constexpr std::size_t kBank = 0;
constexpr std::size_t kSameGroup = 1;
constexpr std::size_t kOtherGroup = 5;
constexpr std::int64_t kStart = 1000;

struct Opened : CommandTiming {
    Opened() : CommandTiming(prime_device()) { issue(Command::Activate, kBank, 7, kStart); }
};

TEST(CommandTiming, ColumnCommandsWaitTrcdAfterActivate) {
    const Opened bank;
    EXPECT_EQ(bank.earliest(Command::Read, kBank), kStart + 29);
    EXPECT_EQ(bank.earliest(Command::Write, kBank), kStart + 29);
    EXPECT_EQ(bank.open_row(kBank), 7);
}

// GDDR6, HBM: writes may come sooner.
TEST(CommandTiming, WritesMayHaveATrcdOfTheirOwn) {
    MemoryConfig config = prime_device();
    config.timing.tRCD_WR = base::Cycles{17};
    CommandTiming bank{config};
    bank.issue(Command::Activate, kBank, 7, kStart);
    EXPECT_EQ(bank.earliest(Command::Read, kBank), kStart + 29);
    EXPECT_EQ(bank.earliest(Command::Write, kBank), kStart + 17);
}

TEST(CommandTiming, CommandsHoldTheCommandBus) {
    Opened bank;
    EXPECT_EQ(bank.earliest(Command::Precharge, kOtherGroup), kStart + 2);
    bank.issue(Command::Read, kBank, 7, kStart + 29);
    EXPECT_EQ(bank.earliest(Command::Precharge, kOtherGroup), kStart + 29 + 3);
    bank.issue(Command::Precharge, kOtherGroup, kNoRow, kStart + 40);
    EXPECT_EQ(bank.earliest(Command::Precharge, kOtherGroup), kStart + 41);
}

TEST(CommandTiming, ColumnCommandsWaitForTheCommandBusAndHoldIt) {
    Opened bank;
    bank.issue(Command::Activate, kOtherGroup, 8, kStart + 100);
    EXPECT_EQ(bank.earliest(Command::Read, kBank), kStart + 100 + 2);
    EXPECT_EQ(bank.earliest(Command::Write, kBank), kStart + 100 + 2);
    bank.issue(Command::Write, kBank, 7, kStart + 200);
    EXPECT_EQ(bank.earliest(Command::Precharge, kOtherGroup), kStart + 200 + 3);
}

// LPDDR4: every command takes two CK or four.
TEST(CommandTiming, PrechargesAndRefreshesHoldTheCommandBusAsLongAsTheyTake) {
    MemoryConfig config = prime_device();
    config.timing.precharge_command = base::Cycles{5};
    CommandTiming bank{config};
    bank.issue(Command::Precharge, kOtherGroup, kNoRow, kStart);
    EXPECT_EQ(bank.bus().free_for_rows(), kStart + 5);
    EXPECT_EQ(bank.bus().free_for_columns(), kStart + 5);
    bank.refresh(0xFFFF, kStart + 100, kStart + 100 + 307);
    EXPECT_EQ(bank.bus().free_for_rows(), kStart + 105);
    bank.partial_refresh(1, kStart + 500, kStart + 600);
    EXPECT_EQ(bank.bus().free_for_rows(), kStart + 505);
}

// LPDDR4 and 5: PRE to PRE of any two banks.
TEST(CommandTiming, PrechargesOfOtherBanksWaitTppd) {
    MemoryConfig config = prime_device();
    config.timing.tPPD = base::Cycles{9};
    CommandTiming bank{config};
    bank.issue(Command::Precharge, kBank, kNoRow, kStart);
    EXPECT_EQ(bank.earliest(Command::Precharge, kOtherGroup), kStart + 9);
    EXPECT_EQ(bank.earliest(Command::Activate, kOtherGroup), kStart + 1);  // the command bus
}

// LPDDR: longer than that of one bank.
TEST(CommandTiming, APrechargeOfAllBanksHasATimeOfItsOwn) {
    MemoryConfig config = prime_device();
    config.timing.tPPD = base::Cycles{9};
    config.timing.tRPab = base::Cycles{53};
    CommandTiming banks{config};
    banks.issue(Command::Activate, kBank, 7, kStart);
    banks.issue(Command::Activate, kOtherGroup, 7, kStart + 40);
    EXPECT_EQ(banks.earliest_precharge_all(0xFFFF), kStart + 40 + 67);
    banks.precharge_all(0xFFFF, kStart + 200);
    EXPECT_EQ(banks.open_banks(), 0U);
    EXPECT_EQ(banks.open_row(kBank), kNoRow);
    EXPECT_EQ(banks.bus().free_for_rows(), kStart + 201);
    EXPECT_EQ(banks.earliest_precharge_all(0xFFFF), kStart + 209);
    EXPECT_EQ(banks.earliest(Command::Activate, kSameGroup), kStart + 253);  // closed already
    EXPECT_EQ(banks.earliest_refresh(0xFFFF), kStart + 253);
    EXPECT_EQ(banks.earliest_partial_refresh(0xFFFF), kStart + 253);
}

TEST(CommandTiming, ARankIsClosedWithoutTheOther) {
    MemoryConfig config = prime_device();
    config.ranks = 2;
    CommandTiming banks{config};
    banks.issue(Command::Activate, kBank, 7, kStart);
    banks.issue(Command::Activate, 17, 7, kStart + 20);
    EXPECT_EQ(banks.rank_with(banks.open_banks()), 0xFFFFU);
    banks.precharge_all(0xFFFF, kStart + 200);
    EXPECT_EQ(banks.open_banks(), std::uint64_t{1} << 17);
    EXPECT_EQ(banks.rank_with(banks.open_banks()), 0xFFFF'0000U);
    EXPECT_EQ(banks.earliest(Command::Activate, 18), kStart + 201);  // the command bus
}

TEST(CommandTiming, PrechargeWaitsTrasAndActivateTrc) {
    Opened bank;
    EXPECT_EQ(bank.earliest(Command::Precharge, kBank), kStart + 67);
    bank.issue(Command::Precharge, kBank, kNoRow, kStart + 67);
    EXPECT_EQ(bank.earliest(Command::Activate, kBank), kStart + 101);
}

TEST(CommandTiming, ActivateWaitsTrpAfterALatePrecharge) {
    Opened bank;
    bank.issue(Command::Precharge, kBank, kNoRow, kStart + 200);
    EXPECT_EQ(bank.earliest(Command::Activate, kBank), kStart + 231);
}

TEST(CommandTiming, ActivatesOfOtherBanksWaitTrrdByBankGroup) {
    const Opened bank;
    EXPECT_EQ(bank.earliest(Command::Activate, kSameGroup), kStart + 7);
    EXPECT_EQ(bank.earliest(Command::Activate, kOtherGroup), kStart + 5);
}

TEST(CommandTiming, AFifthActivateWaitsForTheWindow) {
    CommandTiming banks{prime_device()};
    for (std::int64_t i = 0; i < 4; ++i) {
        banks.issue(Command::Activate, static_cast<std::size_t>(4 * i), 0, kStart + 10 * i);
    }
    EXPECT_EQ(banks.earliest(Command::Activate, 1), kStart + 43);
}

TEST(CommandTiming, ReadsAreSpacedByTccdByBankGroup) {
    Opened bank;
    bank.issue(Command::Read, kBank, 7, kStart + 100);
    EXPECT_EQ(bank.earliest(Command::Read, kSameGroup), kStart + 113);
    EXPECT_EQ(bank.earliest(Command::Read, kOtherGroup), kStart + 111);
    EXPECT_EQ(bank.earliest(Command::Precharge, kBank), kStart + 117);
}

TEST(CommandTiming, AnEarlyReadDoesNotShortenTras) {
    Opened bank;
    bank.issue(Command::Read, kBank, 7, kStart + 29);  // and tRTP: 46
    EXPECT_EQ(bank.earliest(Command::Precharge, kBank), kStart + 67);
}

// The row opened after the write could be read or written tRCD later, at 132.
TEST(CommandTiming, ARowOpenedBehindAWriteOfItsGroupWaitsForThatAsWell) {
    Opened bank;
    bank.issue(Command::Write, kBank, 7, kStart + 100);
    bank.issue(Command::Activate, kSameGroup, 8, kStart + 103);
    EXPECT_EQ(bank.earliest(Command::Read, kSameGroup), kStart + 100 + 19 + 4 + 47);
    EXPECT_EQ(bank.earliest(Command::Write, kSameGroup), kStart + 100 + 37);
}

TEST(CommandTiming, WritesAreSpacedByTccdAndHoldTheRowUntilTwr) {
    Opened bank;
    bank.issue(Command::Write, kBank, 7, kStart + 100);
    EXPECT_EQ(bank.earliest(Command::Write, kSameGroup), kStart + 137);
    EXPECT_EQ(bank.earliest(Command::Write, kOtherGroup), kStart + 111);
    EXPECT_EQ(bank.earliest(Command::Precharge, kBank), kStart + 100 + 19 + 4 + 41);
}

TEST(CommandTiming, TheBusTurnsBetweenReadsAndWrites) {
    Opened read;
    read.issue(Command::Read, kBank, 7, kStart + 100);
    EXPECT_EQ(read.earliest(Command::Write, kOtherGroup), kStart + 100 + 23 + 4 + 2 - 19);
    Opened write;
    write.issue(Command::Write, kBank, 7, kStart + 100);
    EXPECT_EQ(write.earliest(Command::Read, kSameGroup), kStart + 100 + 19 + 4 + 47);
    EXPECT_EQ(write.earliest(Command::Read, kOtherGroup), kStart + 100 + 19 + 4 + 3);
}

TEST(CommandTiming, RefreshWaitsForItsBanksAndTakesThemTheirTime) {
    Opened bank;
    bank.issue(Command::Precharge, kBank, kNoRow, kStart + 200);
    constexpr std::uint64_t kAll = 0xFFFF;
    EXPECT_EQ(bank.earliest_refresh(kAll), kStart + 231);
    EXPECT_EQ(bank.earliest_refresh(kAll & ~std::uint64_t{1}), kStart + 201);
    bank.refresh(kAll, kStart + 231, kStart + 231 + 307);
    EXPECT_EQ(bank.earliest(Command::Activate, kOtherGroup), kStart + 231 + 307);
    EXPECT_EQ(bank.earliest(Command::Precharge, kBank), kStart + 232);  // one CK on the bus
}

TEST(CommandTiming, ABankAloneIsRefreshedBesideTheOthers) {
    Opened bank;
    bank.issue(Command::Precharge, kBank, kNoRow, kStart + 200);
    bank.refresh(1U << kSameGroup, kStart + 300, kStart + 300 + 151);
    EXPECT_EQ(bank.earliest(Command::Activate, kSameGroup), kStart + 300 + 151);
    EXPECT_EQ(bank.earliest(Command::Activate, kBank), kStart + 301);
}

TEST(CommandTiming, ASplitBusCarriesARowAndAColumnCommandAtATime) {
    MemoryConfig config = prime_device();
    config.split_command_bus = true;
    CommandTiming bank{config};
    bank.issue(Command::Activate, kBank, 7, kStart);
    EXPECT_EQ(bank.bus().free_for_rows(), kStart + 2);
    EXPECT_EQ(bank.bus().free_for_columns(), 0);
    bank.issue(Command::Read, kBank, 7, kStart + 29);
    EXPECT_EQ(bank.bus().free_for_columns(), kStart + 29 + 3);
    EXPECT_EQ(bank.earliest(Command::Precharge, kOtherGroup), kStart + 2);
}

// A device that refreshes some banks beside the others' work.
MemoryConfig partly_refreshed() {
    MemoryConfig config = prime_device();
    config.timing.tREFpb_to_REFpb = base::Cycles{211};
    config.timing.tREFpb_to_ACT = base::Cycles{53};
    return config;
}

TEST(CommandTiming, RefreshesOfSomeBanksKeepTheirDistance) {
    CommandTiming bank{partly_refreshed()};
    bank.partial_refresh(1U << kBank, kStart, kStart + 151);
    EXPECT_EQ(bank.earliest_partial_refresh(1U << kOtherGroup), kStart + 211);
}

TEST(CommandTiming, ARefreshOfSomeBanksPutsOffActivatesOfTheOthers) {
    CommandTiming bank{partly_refreshed()};
    bank.partial_refresh(1U << kBank, kStart, kStart + 151);
    EXPECT_EQ(bank.earliest(Command::Activate, kOtherGroup), kStart + 53);
    EXPECT_EQ(bank.earliest(Command::Activate, kBank), kStart + 151);
    bank.keep_activates_back(1U << kBank, kStart + 400);
    EXPECT_EQ(bank.earliest(Command::Activate, kOtherGroup), kStart + 400 + 53);
}

TEST(CommandTiming, ARefreshOfSomeBanksCountsAsAnActivateAfterTheOthers) {
    CommandTiming bank{partly_refreshed()};
    bank.issue(Command::Activate, kOtherGroup, 7, kStart);
    EXPECT_EQ(bank.earliest_partial_refresh(1U << kBank), kStart + 5);
    EXPECT_EQ(bank.earliest_partial_refresh(1U << (kOtherGroup + 1)), kStart + 7);
}

TEST(CommandTiming, ARefreshOfSomeBanksWaitsTrpAfterTheyClosedAndTrcAfterTheyOpened) {
    CommandTiming late{partly_refreshed()};
    late.issue(Command::Activate, kBank, 7, kStart);
    late.issue(Command::Precharge, kBank, kNoRow, kStart + 200);
    EXPECT_EQ(late.earliest_partial_refresh(1U << kBank), kStart + 200 + 31);
    CommandTiming early{partly_refreshed()};
    early.issue(Command::Activate, kBank, 7, kStart);
    early.issue(Command::Precharge, kBank, kNoRow, kStart + 67);
    EXPECT_EQ(early.earliest_partial_refresh(1U << kBank), kStart + 101);
}

TEST(CommandTiming, ARefreshOfABankThatClosesByItselfWaitsForThat) {
    CommandTiming bank{partly_refreshed()};
    bank.issue(Command::Activate, kBank, 7, kStart);
    bank.issue(Command::Read, kBank, 7, kStart + 200);
    bank.precharge_after_column(kBank);
    EXPECT_EQ(bank.earliest_partial_refresh(1U << kBank), kStart + 200 + 17 + 31);
}

TEST(CommandTiming, BanksHeldBackTakeNothingButAPrecharge) {
    Opened bank;
    bank.hold_back(1U << kBank, kStart + 1);
    EXPECT_EQ(bank.earliest(Command::Precharge, kBank), kStart + 67);
    for (const Command held : {Command::Activate, Command::Read, Command::Write}) {
        EXPECT_GT(bank.earliest(held, kBank), kStart + kLongestConstraint);
    }
    EXPECT_EQ(bank.earliest(Command::Activate, kOtherGroup), kStart + 5);
}

TEST(CommandTiming, ABankThatWasHeldBackWorksAgainAfterItsRefresh) {
    CommandTiming bank{partly_refreshed()};
    bank.hold_back(1U << kBank, kStart);
    bank.partial_refresh(1U << kBank, kStart, kStart + 151);
    bank.issue(Command::Activate, kBank, 7, kStart + 151);
    EXPECT_EQ(bank.earliest(Command::Read, kBank), kStart + 151 + 29);
    EXPECT_EQ(bank.earliest(Command::Write, kBank), kStart + 151 + 29);
}

TEST(CommandTiming, ABankIsNotRefreshedAgainBeforeItHasBeen) {
    CommandTiming bank{prime_device()};
    bank.partial_refresh(1U << kBank, kStart, kStart + 151);
    EXPECT_EQ(bank.earliest_partial_refresh(1U << kBank), kStart + 151);
    EXPECT_EQ(bank.earliest_partial_refresh(1U << kSameGroup), bank.bus().free_for_rows());
}

// A write of its group, 5 CK before a refresh that takes less time than what follows it.
TEST(CommandTiming, ABankThatWasHeldBackKeepsTheDistanceOfItsGroup) {
    CommandTiming bank{prime_device()};
    bank.issue(Command::Activate, kSameGroup, 7, kStart - 100);
    bank.hold_back(1U << kBank, kStart - 20);
    bank.issue(Command::Write, kSameGroup, 7, kStart - 5);
    bank.partial_refresh(1U << kBank, kStart, kStart + 1);
    bank.issue(Command::Activate, kBank, 7, kStart + 1);
    EXPECT_EQ(bank.earliest(Command::Read, kBank), kStart - 5 + 19 + 4 + 47);
    EXPECT_EQ(bank.earliest(Command::Write, kBank), kStart - 5 + 37);
}

constexpr std::size_t kOtherRank = 16 + kOtherGroup;

// Two ranks on one bus, each with a row open for long.
struct TwoRanks : CommandTiming {
    TwoRanks() : CommandTiming(config()) {
        issue(Command::Activate, kBank, 7, kStart);
        issue(Command::Activate, kOtherRank, 7, kStart + 2);
    }
    static MemoryConfig config() {
        MemoryConfig config = prime_device();
        config.ranks = 2;
        config.timing.tRTRS = base::Cycles{59};
        return config;
    }
};

TEST(CommandTiming, RefreshesOfSomeBanksOfOneRankDoNotHoldBackTheOthers) {
    MemoryConfig config = partly_refreshed();
    config.ranks = 2;
    CommandTiming banks{config};
    banks.partial_refresh(1U << kBank, kStart, kStart + 151);
    EXPECT_EQ(banks.earliest_partial_refresh(1U << kOtherGroup), kStart + 211);
    EXPECT_EQ(banks.earliest_partial_refresh(1U << kOtherRank), banks.bus().free_for_rows());
    EXPECT_EQ(banks.earliest(Command::Activate, kOtherRank), banks.bus().free_for_rows());
    banks.keep_activates_back(1U << kBank, kStart + 400);
    EXPECT_EQ(banks.earliest(Command::Activate, kOtherRank), banks.bus().free_for_rows());
}

TEST(CommandTiming, ActivatesOfOneRankDoNotHoldBackTheOthers) {
    const TwoRanks banks;
    EXPECT_EQ(banks.earliest(Command::Activate, kOtherGroup), kStart + 5);
    EXPECT_EQ(banks.earliest(Command::Activate, 16 + kBank), kStart + 2 + 5);
}

TEST(CommandTiming, AFifthActivateWaitsForTheWindowOfItsRank) {
    CommandTiming banks{TwoRanks::config()};
    for (std::int64_t i = 0; i < 4; ++i) {
        banks.issue(Command::Activate, static_cast<std::size_t>(4 * i), 0, kStart + 10 * i);
    }
    EXPECT_EQ(banks.earliest(Command::Activate, 1), kStart + 43);
    EXPECT_EQ(banks.earliest(Command::Activate, kOtherRank), kStart + 32);  // the command bus
}

TEST(CommandTiming, DataOfAnotherRankNeedAGapOnTheBus) {
    TwoRanks read;
    read.issue(Command::Read, kBank, 7, kStart + 100);
    EXPECT_EQ(read.earliest(Command::Read, kOtherGroup), kStart + 100 + 11);
    EXPECT_EQ(read.earliest(Command::Write, kOtherGroup), kStart + 100 + 23 + 4 + 2 - 19);
    EXPECT_EQ(read.earliest(Command::Read, kOtherRank), kStart + 100 + 4 + 59);
    EXPECT_EQ(read.earliest(Command::Write, kOtherRank), kStart + 100 + 23 + 4 + 59 - 19);
    TwoRanks write;
    write.issue(Command::Write, kBank, 7, kStart + 100);
    EXPECT_EQ(write.earliest(Command::Read, kOtherGroup), kStart + 100 + 19 + 4 + 3);
    EXPECT_EQ(write.earliest(Command::Write, kOtherGroup), kStart + 100 + 11);
    EXPECT_EQ(write.earliest(Command::Write, kOtherRank), kStart + 100 + 4 + 59);
    EXPECT_EQ(write.earliest(Command::Read, kOtherRank), kStart + 100 + 19 + 4 + 59 - 23);
}

TEST(CommandTiming, ARefreshOfSomeBanksOfOneRankDoesNotWaitForActivatesOfTheOther) {
    MemoryConfig config = partly_refreshed();
    config.ranks = 2;
    CommandTiming banks{config};
    banks.issue(Command::Activate, kSameGroup, 7, kStart);
    const std::uint64_t there = std::uint64_t{1} << kOtherRank;
    EXPECT_EQ(banks.earliest_partial_refresh(there), banks.bus().free_for_rows());
}

TEST(CommandTiming, ColumnCommandsOfAGroupKeepTheirDistanceHoweverManyBanksItHas) {
    for (const std::int64_t banks : {2, 4, 8}) {
        MemoryConfig config = prime_device();
        config.bank_groups = 16 / banks;
        config.banks_per_group = banks;
        CommandTiming timing{config};
        const auto last = static_cast<std::size_t>(banks - 1);
        for (const std::size_t bank : {std::size_t{0}, last, last + 1}) {
            timing.issue(Command::Activate, bank, 7,
                         kStart + 100 * static_cast<std::int64_t>(bank));
        }
        timing.issue(Command::Read, 0, 7, kStart + 1000);
        EXPECT_EQ(timing.earliest(Command::Read, last), kStart + 1000 + 13) << banks;
        EXPECT_EQ(timing.earliest(Command::Read, last + 1), kStart + 1000 + 11) << banks;
    }
}

TEST(CommandTiming, NothingHasHappenedBeforeTheStart) {
    const CommandTiming bank{partly_refreshed()};
    for (const Command command : {Command::Activate, Command::Precharge}) {
        EXPECT_EQ(bank.earliest(command, kBank), 0);
    }
    EXPECT_EQ(bank.earliest_partial_refresh(1U << kBank), 0);
    CommandTiming ranks{TwoRanks::config()};
    ranks.issue(Command::Activate, kBank, 7, 0);
    EXPECT_EQ(ranks.earliest(Command::Activate, kOtherGroup), 5);  // no window yet
}

TEST(CommandBus, CarriesRowsAndColumnsBesideEachOtherWhereItIsSplit) {
    for (const bool split : {false, true}) {
        CommandBus bus(split);
        EXPECT_EQ(bus.split(), split);
        bus.carry_row(13);
        bus.carry_column(17);
        EXPECT_EQ(bus.free_for_rows(), split ? 13 : 17);
        EXPECT_EQ(bus.free_for_columns(), 17);
        bus.carry_row(23);
        EXPECT_EQ(bus.free_for_rows(), 23);
        EXPECT_EQ(bus.free_for_columns(), split ? 17 : 23);
    }
}

}  // namespace
}  // namespace tilesim::arch::memory::device
