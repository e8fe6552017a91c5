#include "arch/pim/pim_use.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::pim {
namespace {

using Names = std::vector<std::string>;
using Purpose = PimCommand::Purpose;

TEST(PimUse, NamesTheCommandsAProgramDoesNotHave) {
    PimProgram program;
    EXPECT_EQ(not_exercised({}, program), (Names{"pim.mac_to_precharge", "pim.drain",
                                                 "pim.fold_commands", "pim.scale_commands"}));
    program.commands = {{.op = PimOp::Mac}, {.op = PimOp::Alu, .purpose = Purpose::Fold}};
    EXPECT_EQ(not_exercised({}, program), Names{"pim.scale_commands"});
    program.commands.push_back({.op = PimOp::Alu, .purpose = Purpose::Scale});
    EXPECT_TRUE(not_exercised({}, program).empty());
}

TEST(PimUse, AnAluThatHoldsNoBusNeedNotDrain) {
    PimProgram program;
    program.commands = {{.op = PimOp::Mac},
                        {.op = PimOp::Alu, .purpose = Purpose::Fold},
                        {.op = PimOp::Alu, .purpose = Purpose::Scale}};
    PimConfig config;
    config.bus_turnaround = false;
    EXPECT_EQ(not_exercised(config, program), Names{"pim.drain"});
}

}  // namespace
}  // namespace tilesim::arch::pim
