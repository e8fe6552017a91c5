#include "arch/pim/pim_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tilesim::arch::pim {
namespace {

using Purpose = PimCommand::Purpose;
using testing::Contains;
using testing::Not;

constexpr std::int64_t kRows = 64;

TEST(PimUse, NamesTheCommandsAProgramDoesNotHave) {
    PimProgram program;
    for (const char* key : {"pim.mac_to_precharge", "pim.drain", "pim.accumulator_load",
                            "pim.scale_commands", "pim.host_turn", "pim.barrier"}) {
        EXPECT_THAT(not_exercised({}, program, kRows), Contains(key));
    }
    program.commands = {{.op = PimOp::Mac},
                        {.op = PimOp::WriteInputs},
                        {.op = PimOp::Alu, .purpose = Purpose::Load}};
    for (const char* key :
         {"pim.mac_to_precharge", "pim.drain", "pim.accumulator_load", "pim.host_turn"}) {
        EXPECT_THAT(not_exercised({}, program, kRows), Not(Contains(key)));
    }
    EXPECT_THAT(not_exercised({}, program, kRows), Contains("pim.scale_commands"));
}

// Mode registers are a row, which is opened and written; the host reads and writes rows, too.
TEST(PimUse, RowsAreOpenedReadAndWrittenByMoreThanMacs) {
    const auto named = [](PimOp op, const char* key) {
        PimProgram program;
        program.commands = {{.op = op}};
        const auto names = not_exercised({}, program, kRows);
        return std::find(names.begin(), names.end(), key) != names.end();
    };
    for (const PimOp op : {PimOp::WriteBank, PimOp::ModeVisit, PimOp::ModeWrite, PimOp::Spill}) {
        EXPECT_FALSE(named(op, "pim.activate_to_mac"));
        EXPECT_FALSE(named(op, "pim.write_to_precharge"));
        EXPECT_TRUE(named(op, "pim.mac_to_precharge"));
        EXPECT_TRUE(named(op, "pim.mac_to_write"));
    }
    for (const PimOp op : {PimOp::ReadBank, PimOp::ReadBanks, PimOp::LoadOutputs}) {
        EXPECT_FALSE(named(op, "pim.activate_to_mac"));
        EXPECT_FALSE(named(op, "pim.mac_to_precharge"));
        EXPECT_FALSE(named(op, "pim.mac_to_write"));
        EXPECT_TRUE(named(op, "pim.write_to_precharge"));
        EXPECT_TRUE(named(op, "pim.mac_interval"));
    }
    EXPECT_FALSE(named(PimOp::ReadResults, "pim.mac_to_write"));
    EXPECT_TRUE(named(PimOp::ReadResults, "pim.activate_to_mac"));
}

TEST(PimUse, TheHostTurnsAndWaitsForWhatIsOneBanksToo) {
    PimProgram program;
    program.commands = {{.op = PimOp::Mac}};
    for (const char* key : {"pim.host_turn", "pim.result_latency", "pim.result_bits"}) {
        EXPECT_THAT(not_exercised({}, program, kRows), Contains(key));
    }
    program.commands = {{.op = PimOp::WriteBankInputs}, {.op = PimOp::ReadBank}};
    EXPECT_THAT(not_exercised({}, program, kRows), Not(Contains("pim.host_turn")));
    EXPECT_THAT(not_exercised({}, program, kRows), Not(Contains("pim.result_latency")));
    EXPECT_THAT(not_exercised({}, program, kRows), Contains("pim.result_bits"));
}

TEST(PimUse, AnAluThatHoldsNoBusNeedNotDrain) {
    PimProgram program;
    program.commands = {{.op = PimOp::Mac}};
    PimConfig config;
    config.bus_turnaround = false;
    EXPECT_THAT(not_exercised(config, program, kRows), Contains("pim.drain"));
    EXPECT_THAT(not_exercised(config, program, kRows), Contains("pim.mac_to_write"));
}

TEST(PimUse, RowsAreNamedWhereHalfOfThemWouldDo) {
    PimProgram program;
    program.words_per_row = 8;
    program.commands = {{.op = PimOp::Mac, .count = 8, .word = 30 * 8}};  // row 30 is the 31st
    EXPECT_THAT(not_exercised({}, program, kRows), Contains("memory.rows"));
    program.commands.front().count = 9;
    EXPECT_THAT(not_exercised({}, program, kRows), Not(Contains("memory.rows")));
}

TEST(PimUse, BanksOfAUnitAreNamedWhereOneMultipliesAlone) {
    PimProgram program;
    program.commands = {{.op = PimOp::Mac}};
    EXPECT_THAT(not_exercised({}, program, kRows), Not(Contains("pim.banks_per_unit")));
    program.commands.front().banks = {BankSet::kOdd};
    EXPECT_THAT(not_exercised({}, program, kRows), Not(Contains("pim.banks_per_unit")));
    program.commands.front().banks = {3};
    EXPECT_THAT(not_exercised({}, program, kRows), Contains("pim.banks_per_unit"));
}

}  // namespace
}  // namespace tilesim::arch::pim
