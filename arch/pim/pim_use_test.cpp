#include "arch/pim/pim_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::arch::pim {
namespace {

using Purpose = PimCommand::Purpose;
using testing::Contains;
using testing::Not;

TEST(PimUse, NamesTheCommandsAProgramDoesNotHave) {
    PimProgram program;
    for (const char* key : {"pim.mac_to_precharge", "pim.drain", "pim.accumulator_load",
                            "pim.scale_commands", "pim.host_turn", "pim.barrier"}) {
        EXPECT_THAT(not_exercised({}, program), Contains(key));
    }
    program.commands = {{.op = PimOp::Mac},
                        {.op = PimOp::WriteInputs},
                        {.op = PimOp::Alu, .purpose = Purpose::Load}};
    for (const char* key : {"pim.mac_to_precharge", "pim.drain", "pim.accumulator_load",
                            "pim.host_turn"}) {
        EXPECT_THAT(not_exercised({}, program), Not(Contains(key)));
    }
    EXPECT_THAT(not_exercised({}, program), Contains("pim.scale_commands"));
}

TEST(PimUse, AnAluThatHoldsNoBusNeedNotDrain) {
    PimProgram program;
    program.commands = {{.op = PimOp::Mac}};
    PimConfig config;
    config.bus_turnaround = false;
    EXPECT_THAT(not_exercised(config, program), Contains("pim.drain"));
    EXPECT_THAT(not_exercised(config, program), Contains("pim.mac_to_write"));
}

}  // namespace
}  // namespace tilesim::arch::pim
