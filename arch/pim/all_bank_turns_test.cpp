// Banks that take turns or open one by one: rows and distances of their own.
#include <gtest/gtest.h>

#include "arch/memory/device/command_timing.hpp"
#include "arch/pim/all_bank_timing.hpp"
#include "arch/pim/pim_testing.hpp"

namespace tilesim::arch::pim {
namespace {

constexpr std::int64_t kStart = 1000;

TEST(AllBankTiming, EvenAndOddBanksHaveRowsOfTheirOwn) {
    AllBankTiming banks(prime_memory(), prime_pim(), 2);
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kEven});
    EXPECT_EQ(banks.open_row({BankSet::kEven}), 7);
    EXPECT_EQ(banks.open_row({BankSet::kOdd}), memory::device::kNoRow);
    EXPECT_EQ(banks.open_row(), AllBankTiming::kSeveral);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate, {BankSet::kOdd}), kStart + 2);
    banks.issue(AllBankCommand::Activate, 8, kStart + 2, {BankSet::kOdd});
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac, {BankSet::kEven}), kStart + 29);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac, {BankSet::kOdd}), kStart + 31);
    AllBankTiming odd_first(prime_memory(), prime_pim(), 2);
    odd_first.begin(kStart);
    odd_first.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kOdd});
    odd_first.issue(AllBankCommand::Activate, 7, kStart + 2, {BankSet::kEven});
    EXPECT_EQ(odd_first.open_row(), 7);
    EXPECT_EQ(odd_first.earliest(AllBankCommand::Mac), kStart + 31);  // of all: the later
}

TEST(AllBankTiming, CommandsToRowsMoveNoData) {
    AllBankTiming banks(prime_memory(), prime_pim(), 1);
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart);
    EXPECT_EQ(banks.data_end(), 0);
    const std::int64_t mac = banks.earliest(AllBankCommand::Mac);
    banks.issue(AllBankCommand::Mac, 7, mac);
    const std::int64_t read = banks.data_end();
    banks.issue(AllBankCommand::Precharge, memory::device::kNoRow, mac + 500);
    EXPECT_EQ(banks.data_end(), read);
}

TEST(AllBankTiming, ARowThatIsDoneWithClosesInTimeBeforeTheOthersCommand) {
    AllBankTiming banks(prime_memory(), prime_pim(), 2);
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kEven});
    banks.issue(AllBankCommand::Activate, 8, kStart + 2, {BankSet::kOdd});
    EXPECT_EQ(banks.close_early({BankSet::kEven}, kStart + 67), std::nullopt);
    EXPECT_EQ(banks.close_early({BankSet::kEven}, kStart + 68), kStart + 67);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate, {BankSet::kEven}), kStart + 67 + 31);
    EXPECT_EQ(banks.close_early({BankSet::kEven}, kStart + 500), std::nullopt);  // it is closed
    // The odd banks' command takes two CK.
    AllBankTiming busy(prime_memory(), prime_pim(), 2);
    busy.begin(kStart);
    busy.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kEven});
    busy.issue(AllBankCommand::Activate, 8, kStart + 2, {BankSet::kOdd});
    busy.issue(AllBankCommand::Mac, 8, kStart + 67, {BankSet::kOdd});
    EXPECT_EQ(busy.close_early({BankSet::kEven}, kStart + 500), kStart + 67 + 2);
}

TEST(AllBankTiming, BanksOpenedOneByOneKeepTrrdAndTheWindow) {
    AllBankTiming banks(prime_memory(), prime_pim(), 16);
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart, {0});
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate, {1}), kStart + 10);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate, {4}), kStart + 9);
    for (std::int64_t i = 1; i < 4; ++i) {
        banks.issue(AllBankCommand::Activate, 7, kStart + 10 * i, {4 * i});
    }
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate, {1}), kStart + 53);
    AllBankTiming second_group(prime_memory(), prime_pim(), 16);
    second_group.begin(kStart);
    second_group.issue(AllBankCommand::Activate, 7, kStart, {5});
    EXPECT_EQ(second_group.earliest(AllBankCommand::Activate, {6}), kStart + 10);
    EXPECT_EQ(second_group.earliest(AllBankCommand::Activate, {1}), kStart + 9);
    AllBankTiming fresh(prime_memory(), prime_pim(), 16);
    EXPECT_EQ(fresh.earliest(AllBankCommand::Activate, {5}), 0);  // there was none before
    PimConfig one_by_one = prime_pim();
    one_by_one.activates_at_once = false;
    AllBankTiming single(prime_memory(), one_by_one, 16);
    single.begin(kStart);
    single.issue(AllBankCommand::Activate, 7, kStart, {5});
    EXPECT_EQ(single.earliest(AllBankCommand::Mac, {5}), kStart + 29);
}

// The MAC went at 31; the change is a command of its own behind the row's close.
TEST(AllBankTiming, AChangeFollowsARowThatIsClosedEarly) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    config.mode_change = base::Cycles{37};
    AllBankTiming banks(prime_memory(), config, 2);
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kEven});
    banks.issue(AllBankCommand::Activate, 8, kStart + 2, {BankSet::kOdd});
    banks.issue(AllBankCommand::Mac, 8, kStart + 31, {BankSet::kOdd});
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 31 + 1 + 37);
    EXPECT_EQ(banks.close_early({BankSet::kEven}, kStart + 500), kStart + 67);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 67 + 1 + 37);
}

// Banks that close in 5 CK could open again at 72.
TEST(AllBankTiming, ARowThatIsClosedEarlyLeavesItsBanksTheirRowCycle) {
    PimConfig config = prime_pim();
    config.precharge_all = base::Cycles{5};
    AllBankTiming banks(prime_memory(), config, 2);
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kEven});
    EXPECT_EQ(banks.close_early({BankSet::kEven}, kStart + 500), kStart + 67);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate, {BankSet::kEven}), kStart + 97);
}

// A window of 20 lets one go every 5 CK, which are less than tRRD_S 9.
TEST(AllBankTiming, BanksOpenNoFasterThanTheirSpacingLets) {
    memory::device::MemoryConfig memory = prime_memory();
    memory.timing.tFAW = base::Cycles{20};
    EXPECT_EQ(AllBankTiming(memory, prime_pim()).one_by_one(16), 15 * 9);
    EXPECT_EQ(AllBankTiming(memory, prime_pim()).one_by_one(0), 0);
}

}  // namespace
}  // namespace tilesim::arch::pim
