#include "arch/pim/all_bank_timing.hpp"

#include <gtest/gtest.h>

#include "arch/base/check.hpp"
#include "arch/memory/device/command_timing.hpp"
#include "arch/pim/pim_testing.hpp"

namespace tilesim::arch::pim {
namespace {

constexpr std::int64_t kStart = 1000;

struct Opened : AllBankTiming {
    explicit Opened(const PimConfig& config = prime_pim()) : AllBankTiming(prime_dram(), config) {
        begin(kStart);
        issue(AllBankCommand::Activate, 7, kStart);
    }
};

TEST(AllBankTiming, MacWaitsTrcdAndPrechargeTras) {
    const Opened banks;
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 29);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 67);
}

TEST(AllBankTiming, MacsFollowAtTheCommandInterval) {
    Opened banks;
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 107);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 111);
}

TEST(AllBankTiming, RegisterWritesAndAluWaitForTheBusAndTheDrainAfterAMac) {
    Opened banks;
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    const std::int64_t turned = kStart + 100 + 23 + 3 + 5 + 17 - 13;
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), turned);
    EXPECT_EQ(banks.earliest(AllBankCommand::Alu), turned);
}

TEST(AllBankTiming, MacAndRowSwitchWaitForTheBusAfterARegisterWrite) {
    Opened banks;
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 100 + 13 + 3 + 47);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 100 + 13 + 3 + 47);
    PimConfig overlapping = prime_pim();
    overlapping.overlap_row_switch = true;
    Opened free(overlapping);
    free.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    EXPECT_EQ(free.earliest(AllBankCommand::Precharge), kStart + 107);
}

TEST(AllBankTiming, PrechargeWaitsForTheWriteRecoveryOfAnArrayWrite) {
    Opened banks;
    banks.issue(AllBankCommand::ArrayWrite, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 100 + 13 + 3 + 47);
    PimConfig without_bus = prime_pim();
    without_bus.bus_turnaround = false;
    Opened other(without_bus);
    other.issue(AllBankCommand::ArrayWrite, 7, kStart + 100);
    EXPECT_EQ(other.earliest(AllBankCommand::Precharge), kStart + 100 + 13 + 3 + 41);
    other.issue(AllBankCommand::Precharge, 0, kStart + 200);
    EXPECT_EQ(other.earliest(AllBankCommand::Activate), kStart + 231);
}

TEST(AllBankTiming, EveryCommandTakesTheBusForAsLongAsItsKindDoes) {
    Opened banks;
    EXPECT_EQ(banks.command_bus_free(), kStart + 2);  // ACT is two commands
    const auto next = [](AllBankCommand command) {
        Opened opened;
        opened.issue(command, 7, kStart + 500);
        return opened.command_bus_free();
    };
    for (const AllBankCommand command :
         {AllBankCommand::Mac, AllBankCommand::RegisterWrite, AllBankCommand::ArrayRead,
          AllBankCommand::ArrayWrite, AllBankCommand::Alu}) {
        EXPECT_EQ(next(command), kStart + 507);
    }
    EXPECT_EQ(next(AllBankCommand::Precharge), kStart + 501);
}

TEST(AllBankTiming, RegisterWritesAndAluCommandsFollowAtTheCommandInterval) {
    Opened banks;
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 107);
    banks.issue(AllBankCommand::Alu, 7, kStart + 200);
    EXPECT_EQ(banks.earliest(AllBankCommand::Alu), kStart + 207);
}

TEST(AllBankTiming, AnArrayReadWaitsAsAMacDoesAnArrayWriteForTheOtherDirection) {
    Opened banks;
    EXPECT_EQ(banks.earliest(AllBankCommand::ArrayRead), kStart + 29);
    EXPECT_EQ(banks.earliest(AllBankCommand::ArrayWrite), kStart + 29);
    banks.issue(AllBankCommand::ArrayRead, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::ArrayWrite), kStart + 100 + 23 + 3 + 5 + 17 - 13);
    EXPECT_EQ(banks.earliest(AllBankCommand::ArrayRead), kStart + 107);
    Opened written;
    written.issue(AllBankCommand::ArrayWrite, 7, kStart + 100);
    EXPECT_EQ(written.earliest(AllBankCommand::ArrayRead), kStart + 100 + 13 + 3 + 47);
    EXPECT_EQ(written.turned(), kStart + 100 + 13 + 3 + 47);
}

TEST(AllBankTiming, WithoutTurnaroundsOnlyTheCommandIntervalSeparates) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    Opened banks(config);
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 107);
    EXPECT_EQ(banks.earliest(AllBankCommand::Alu), kStart + 107);
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 200);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 207);
}

TEST(AllBankTiming, ATurnStartsWithQuietBanks) {
    AllBankTiming banks(prime_dram(), prime_pim());
    banks.begin(kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate), kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart);
    banks.issue(AllBankCommand::RegisterWrite, memory::device::kNoRow, kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate), kStart + 13 + 3 + 47);
    PimConfig overlapping = prime_pim();
    overlapping.overlap_row_switch = true;
    AllBankTiming free(prime_dram(), overlapping);
    free.begin(kStart);
    free.issue(AllBankCommand::RegisterWrite, memory::device::kNoRow, kStart);
    EXPECT_EQ(free.earliest(AllBankCommand::Activate), kStart + 7);
}

TEST(AllBankTiming, CommandsToClosedBanksAreProtocolErrors) {
    AllBankTiming banks(prime_dram(), prime_pim());
    banks.begin(kStart);
    EXPECT_THROW(banks.issue(AllBankCommand::Mac, 7, kStart), std::exception);
    Opened open;
    EXPECT_THROW(open.issue(AllBankCommand::Activate, 8, kStart + 500), std::exception);
}

}  // namespace
}  // namespace tilesim::arch::pim
