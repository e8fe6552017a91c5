#include "arch/systemc/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::arch::systemc {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Parameters, AreTakenByTheModuleTheyName) {
    const char* const arguments[] = {"program",
                                     "ddr.memory.channels=4",
                                     "--fast",
                                     "npu0.npu.columns=2",
                                     "ddr.memory.refresh=off",
                                     "typo.x=1"};
    Parameters parameters(6, arguments);
    EXPECT_THAT(parameters.take("ddr"),
                ElementsAre(Pair("memory.channels", "4"), Pair("memory.refresh", "off")));
    EXPECT_THAT(parameters.take("npu0"), ElementsAre(Pair("npu.columns", "2")));
    EXPECT_THAT(parameters.take("npu"), ElementsAre());
    EXPECT_THAT(parameters.left(), ElementsAre("typo.x=1"));
}

}  // namespace
}  // namespace tilesim::arch::systemc
