#include "sim/explore/yaml_value.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::sim::explore {
namespace {

TEST(YamlValue, ChangesOneValueAndLeavesTheRest) {
    const std::string text =
        "name: a  # mine\nnpu:\n  # a clock\n  clock: 1 GHz  # measured\n  shim:\n    clock: 2\n";
    EXPECT_EQ(with_value(text, "npu.clock", "3 GHz", "fitted"),
              "name: a  # mine\nnpu:\n  # a clock\n  clock: 3 GHz  # fitted\n  shim:\n    clock: "
              "2\n");
    EXPECT_NE(with_value(text, "npu.shim.clock", "7", "fitted").find("    clock: 7  # fitted"),
              std::string::npos);
    EXPECT_THROW(with_value(text, "clock", "7", ""), arch::base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::sim::explore
