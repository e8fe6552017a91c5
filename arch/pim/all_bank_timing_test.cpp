#include "arch/pim/all_bank_timing.hpp"

#include <gtest/gtest.h>

#include "arch/base/check.hpp"
#include "arch/memory/device/command_timing.hpp"
#include "arch/pim/pim_testing.hpp"

namespace tilesim::arch::pim {
namespace {

constexpr std::int64_t kStart = 1000;

struct Opened : AllBankTiming {
    explicit Opened(const PimConfig& config = prime_pim()) : AllBankTiming(prime_memory(), config) {
        begin(kStart);
        issue(AllBankCommand::Activate, 7, kStart);
    }
};

TEST(AllBankTiming, MacWaitsTrcdAndPrechargeTras) {
    const Opened banks;
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 29);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 67);
}

// Sixteen ACTs, max(tRRD_S 9, tFAW 53 / 4 rounded up) = 14 apart.
TEST(AllBankTiming, BanksThatOpenOneByOneAreReadyWhenTheLastIs) {
    PimConfig config = prime_pim();
    config.activates_at_once = false;
    const Opened banks{config};
    EXPECT_EQ(banks.command_bus_free(), kStart + 15 * 14 + 2);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 15 * 14 + 29);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 15 * 14 + 67);
    AllBankTiming halves{prime_memory(), config, 2};
    halves.begin(kStart);
    halves.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kOdd});
    EXPECT_EQ(halves.earliest(AllBankCommand::Mac, {BankSet::kOdd}), kStart + 7 * 14 + 29);
}

// Even banks from 0 to 100 CK, odd ones from 40 to 160: of a rank any for 160, in both ranks.
TEST(AllBankTiming, RowsAreOpenInTheBanksOfEveryRank) {
    memory::device::MemoryConfig memory = prime_memory();
    memory.ranks = 2;
    AllBankTiming banks{memory, prime_pim(), 2};
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart, {BankSet::kEven});
    banks.issue(AllBankCommand::Activate, 7, kStart + 40, {BankSet::kOdd});
    banks.issue(AllBankCommand::Precharge, memory::device::kNoRow, kStart + 100, {BankSet::kEven});
    banks.issue(AllBankCommand::Precharge, memory::device::kNoRow, kStart + 160, {BankSet::kOdd});
    EXPECT_EQ(banks.any_row_open(), 2 * 160);
    EXPECT_EQ(banks.row_open(), 16 * (100 + 120));
}

TEST(AllBankTiming, MacsFollowAtTheCommandInterval) {
    Opened banks;
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 107);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 111);
}

// Four pseudo-channels on a bus whose column commands take two CK: each has one in eight.
TEST(AllBankTiming, CommandsLeaveTheBusToTheOtherPseudoChannels) {
    const auto next = [](std::int64_t pseudo_channels) {
        memory::device::MemoryConfig memory = prime_memory();
        memory.pseudo_channels = pseudo_channels;
        memory.timing.column_command = base::Cycles{2};
        AllBankTiming banks{memory, prime_pim()};
        banks.begin(kStart);
        banks.issue(AllBankCommand::Activate, 7, kStart);
        banks.issue(AllBankCommand::Mac, 7, kStart + 100);
        return banks.earliest(AllBankCommand::Mac) - kStart - 100;
    };
    EXPECT_EQ(next(1), 7);
    EXPECT_EQ(next(3), 7);
    EXPECT_EQ(next(4), 8);
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
    memory::device::MemoryConfig longer =
        prime_memory();  // LPDDR4: every command takes two or four
    longer.timing.precharge_command = base::Cycles{5};
    AllBankTiming lpddr4(longer, prime_pim());
    lpddr4.begin(kStart);
    lpddr4.issue(AllBankCommand::Precharge, memory::device::kNoRow, kStart);
    EXPECT_EQ(lpddr4.command_bus_free(), kStart + 5);
}

TEST(AllBankTiming, AResultIsReadOnceTheBusHasTurned) {
    Opened banks;
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterRead), kStart + 100 + 13 + 3 + 47);
}

TEST(AllBankTiming, AReadOfRegistersTurnsTheBusAndBringsNoSums) {
    Opened banks;
    banks.issue(AllBankCommand::RegisterRead, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 100 + 23 + 3 + 5 + 17 - 13);
    EXPECT_EQ(banks.earliest(AllBankCommand::Alu), kStart + 107);
}

TEST(AllBankTiming, DataEndWithTheirBurst) {
    Opened written;
    written.issue(AllBankCommand::ArrayWrite, 7, kStart + 100);
    EXPECT_EQ(written.data_end(), kStart + 100 + 13 + 3);
    Opened read;
    read.issue(AllBankCommand::ArrayRead, 7, kStart + 100);
    EXPECT_EQ(read.data_end(), kStart + 100 + 23 + 3);
}

TEST(AllBankTiming, WithoutABusToTurnDataEndWithTheirCommandsSlot) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    for (const AllBankCommand command :
         {AllBankCommand::ArrayRead, AllBankCommand::ArrayWrite, AllBankCommand::Alu}) {
        Opened banks(config);
        banks.issue(command, 7, kStart + 100);
        EXPECT_EQ(banks.data_end(), kStart + 107);
    }
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
    AllBankTiming banks(prime_memory(), prime_pim());
    banks.begin(kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate), kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart);
    banks.issue(AllBankCommand::RegisterWrite, memory::device::kNoRow, kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::Activate), kStart + 13 + 3 + 47);
    PimConfig overlapping = prime_pim();
    overlapping.overlap_row_switch = true;
    AllBankTiming free(prime_memory(), overlapping);
    free.begin(kStart);
    free.issue(AllBankCommand::RegisterWrite, memory::device::kNoRow, kStart);
    EXPECT_EQ(free.earliest(AllBankCommand::Activate), kStart + 7);
}

// Each number of the unit's own takes the place of the memory's.
TEST(AllBankTiming, AUnitMayHaveNumbersOfItsOwn) {
    PimConfig config = prime_pim();
    config.activate_to_mac = base::Cycles{59};
    config.mac_interval = base::Cycles{3};
    config.mac_to_write = base::Cycles{71};
    config.write_to_mac = base::Cycles{73};
    config.write_to_precharge = base::Cycles{79};
    Opened banks(config);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 59);
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 103);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 100 + 71 + 17);  // drain
    banks.issue(AllBankCommand::ArrayWrite, 7, kStart + 300);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 300 + 73);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 300 + 79);
}

TEST(AllBankTiming, MovesFollowTheMacsInTheirPipeline) {
    Opened banks;
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Move), kStart + 107);
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 200);
    EXPECT_EQ(banks.earliest(AllBankCommand::Move), banks.earliest(AllBankCommand::Mac));
    PimConfig overlapping = prime_pim();
    overlapping.fold_overlaps_turn = true;
    Opened free(overlapping);
    free.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(free.earliest(AllBankCommand::Alu), kStart + 107);
    free.issue(AllBankCommand::RegisterWrite, 7, kStart + 200);
    EXPECT_EQ(free.earliest(AllBankCommand::Move), kStart + 207);
}

TEST(AllBankTiming, TheHostTakesItsTimeBeforeMacsAfterInputs) {
    PimConfig config = prime_pim();
    // 2.8 GHz: 53 CK and a part of one.
    config.host_turn = base::Femtoseconds{19'000'000};
    Opened banks(config);
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    banks.host_turns(kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 100 + 13 + 3 + 47 + 54);
    config.bus_turnaround = false;
    Opened unturned(config);
    unturned.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    unturned.host_turns(kStart + 100);
    EXPECT_EQ(unturned.earliest(AllBankCommand::Mac), kStart + 107 + 54);
}

// The change is a command of its own, behind the last one.
TEST(AllBankTiming, BankAndRegisterCommandsHaveAChangeBetweenThem) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    config.mode_change = base::Cycles{37};
    Opened banks(config);
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 101 + 37);
    EXPECT_EQ(banks.earliest(AllBankCommand::Alu), kStart + 107);  // of neither kind
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 200);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 207);
    EXPECT_EQ(banks.earliest(AllBankCommand::Alu), kStart + 207);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 201 + 37);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterRead), kStart + 207);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 201 + 37);
    for (const AllBankCommand of_units : {AllBankCommand::Alu, AllBankCommand::Move}) {
        EXPECT_EQ(banks.earliest(of_units), banks.command_bus_free());
        banks.issue(of_units, 7, banks.command_bus_free());  // of neither kind: registers still
        EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), banks.command_bus_free());
    }
    Opened read(config);
    read.issue(AllBankCommand::Mac, 7, kStart + 100);
    EXPECT_EQ(read.earliest(AllBankCommand::RegisterRead), kStart + 101 + 37);
    AllBankTiming closed(prime_memory(), config);
    closed.begin(kStart);
    closed.issue(AllBankCommand::RegisterWrite, memory::device::kNoRow, kStart + 37 + 1);
    EXPECT_EQ(closed.earliest(AllBankCommand::Activate), kStart + 37 + 2 + 37);
}

// Nothing goes before what the host has said, nor among ACTs that are still going.
TEST(AllBankTiming, AChangeDoesNotGoBeforeTheCommandBusIsFree) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    config.mode_change = base::Cycles{37};
    Opened banks(config);
    banks.issue(AllBankCommand::Mac, 7, kStart + 100);
    banks.delay(kStart + 500);
    EXPECT_EQ(banks.earliest(AllBankCommand::RegisterWrite), kStart + 500);
    config.activates_at_once = false;
    const Opened one_by_one(config);
    EXPECT_EQ(one_by_one.earliest(AllBankCommand::RegisterWrite), kStart + 15 * 14 + 2);
}

TEST(AllBankTiming, AnEarlyWriteDoesNotShortenTras) {
    PimConfig config = prime_pim();
    config.overlap_row_switch = true;
    config.write_to_precharge = base::Cycles{5};
    Opened banks(config);
    banks.issue(AllBankCommand::ArrayWrite, 7, kStart + 29);
    EXPECT_EQ(banks.earliest(AllBankCommand::Precharge), kStart + 67);
}

// 163: turn of the bus behind the first write alone.
TEST(AllBankTiming, AFurtherWriteDoesNotCutTheHostsTurnShort) {
    PimConfig config = prime_pim();
    config.host_turn = base::Femtoseconds{19'000'000};  // 54 CK
    Opened banks(config);
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    banks.host_turns(kStart + 100);
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 107);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 100 + 13 + 3 + 47 + 54);
}

TEST(AllBankTiming, ADelayThatIsOverFreesNoBus) {
    Opened banks;
    banks.issue(AllBankCommand::RegisterWrite, 7, kStart + 100);
    banks.delay(kStart + 103);
    EXPECT_EQ(banks.command_bus_free(), kStart + 107);
}

// GDDR6, HBM: writes may come sooner.
TEST(AllBankTiming, WritesMayHaveATrcdOfTheirOwn) {
    memory::device::MemoryConfig memory = prime_memory();
    memory.timing.tRCD_WR = base::Cycles{19};
    AllBankTiming banks(memory, prime_pim());
    banks.begin(kStart);
    banks.issue(AllBankCommand::Activate, 7, kStart);
    EXPECT_EQ(banks.earliest(AllBankCommand::ArrayWrite), kStart + 19);
    EXPECT_EQ(banks.earliest(AllBankCommand::Mac), kStart + 29);
}

TEST(AllBankTiming, CommandsToClosedBanksAreProtocolErrors) {
    for (const AllBankCommand command :
         {AllBankCommand::Mac, AllBankCommand::ArrayRead, AllBankCommand::ArrayWrite}) {
        AllBankTiming banks(prime_memory(), prime_pim());
        banks.begin(kStart);
        EXPECT_THROW(banks.issue(command, 7, kStart + 500), std::exception);
    }
    Opened open;
    EXPECT_THROW(open.issue(AllBankCommand::Activate, 8, kStart + 500), std::exception);
}

}  // namespace
}  // namespace tilesim::arch::pim
