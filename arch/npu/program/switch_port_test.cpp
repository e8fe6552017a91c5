#include "arch/npu/program/switch_port.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::program {
namespace {

TEST(SwitchPort, IsWrittenAsItsBundleAndIndex) {
    EXPECT_EQ(parse_port("north11"), (SwitchPort{Bundle::North, 11}));
    EXPECT_EQ(parse_port("ctrl0"), (SwitchPort{Bundle::Control, 0}));
    EXPECT_EQ(name_of(SwitchPort{Bundle::South, 3}), "south3");
    for (int bundle = 0; bundle <= static_cast<int>(Bundle::Trace); ++bundle) {
        const SwitchPort port{static_cast<Bundle>(bundle), 7};
        EXPECT_EQ(parse_port(name_of(port)), port);
    }
}

TEST(SwitchPort, OtherTextNamesNone) {
    for (const char* text : {"north", "up1", "north-1", "north1x", "3", ""}) {
        EXPECT_FALSE(parse_port(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::program
