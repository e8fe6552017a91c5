#include "arch/pim/pim_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::pim {
namespace {

std::string refusal(const std::string& text) {
    auto document = base::config::Document::parse(text, "device.yaml");
    try {
        read_pim_config(document.root().child("pim", ""));
        document.finish();
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(PimConfig, UnitsOfAddressesAndRegistersArePowersOfTwo) {
    using testing::HasSubstr;
    EXPECT_EQ(refusal("pim: {interleave: 512 B, register_bits: 512}"), "");
    EXPECT_THAT(refusal("pim: {interleave: 384 B}"),
                HasSubstr("pim.interleave: must be a power of two, got 384 B"));
    EXPECT_THAT(refusal("pim: {register_bits: 384}"),
                HasSubstr("pim.register_bits: must be a power of two, got 384"));
}

TEST(PimConfig, StepsOfModesAreCountedUpToTheMost) {
    EXPECT_EQ(refusal("pim: {modes: {enter: [park, visit 4, wait 100000]}}"), "");
    for (const char* step : {"wait 100001", "wait -1", "wait", "park 1", "sleep 1"}) {
        EXPECT_THAT(refusal(std::string{"pim: {modes: {enter: ["} + step + "]}}"),
                    testing::HasSubstr("must be park, visit N, write N, read N or wait N"))
            << step;
    }
}

}  // namespace
}  // namespace tilesim::arch::pim
