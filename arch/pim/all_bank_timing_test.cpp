#include "arch/pim/all_bank_timing.hpp"

#include <gtest/gtest.h>

#include "arch/base/check.hpp"

namespace tilesim::arch::pim {
namespace {

using base::Cycles;

// Pairwise different primes, so that a confused constraint shows.
memory::device::DramTiming dram() {
    memory::device::DramTiming t;
    t.activate_command = Cycles{2};
    t.burst = Cycles{3};
    t.read_latency = Cycles{23};
    t.write_latency = Cycles{13};
    t.tRCD = Cycles{29};
    t.tRAS = Cycles{67};
    t.tWR = Cycles{41};
    t.tWTR_L = Cycles{47};
    t.tRTW = Cycles{5};
    return t;
}

PimConfig pim() {
    PimConfig config;
    config.command_interval = Cycles{7};
    config.mac_to_precharge = Cycles{11};
    config.precharge_all = Cycles{31};
    config.drain = Cycles{17};
    return config;
}

constexpr std::int64_t kStart = 1000;

struct Opened : AllBankTiming {
    explicit Opened(const PimConfig& config = pim()) : AllBankTiming(dram(), config) {
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
    PimConfig overlapping = pim();
    overlapping.overlap_row_switch = true;
    Opened free(overlapping);
    free.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    EXPECT_EQ(free.earliest(AllBankCommand::Precharge), kStart + 107);
}

TEST(AllBankTiming, PrechargeWaitsForTheWriteRecoveryOfAnArrayWrite) {
    Opened banks;
    banks.issue(AllBankCommand::ArrayWrite, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 100 + 13 + 3 + 47);
    PimConfig without_bus = pim();
    without_bus.bus_turnaround = false;
    Opened other(without_bus);
    other.issue(AllBankCommand::ArrayWrite, 7, kStart + 100);
    EXPECT_EQ(other.earliest(AllBankCommand::Precharge), kStart + 100 + 13 + 3 + 41);
    other.issue(AllBankCommand::Precharge, 0, kStart + 200);
    EXPECT_EQ(other.earliest(AllBankCommand::Activate), kStart + 231);
}

TEST(AllBankTiming, CommandsToClosedBanksAreProtocolErrors) {
    AllBankTiming banks(dram(), pim());
    banks.begin(kStart);
    EXPECT_THROW(banks.issue(AllBankCommand::Mac, 7, kStart), std::exception);
    Opened open;
    EXPECT_THROW(open.issue(AllBankCommand::Activate, 8, kStart + 500), std::exception);
}

}  // namespace
}  // namespace tilesim::arch::pim
