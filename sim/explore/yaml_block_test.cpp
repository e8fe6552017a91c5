#include "sim/explore/yaml_block.hpp"

#include <gtest/gtest.h>

namespace tilesim::sim::explore {
namespace {

const std::string kText =
    "device: xdna\n"
    "mapping:\n"
    "# a comment\n"
    "  output_stationary: {m_ct: 32,\n"
    "}\n"
    "run: {seed: 1}\n";

TEST(YamlBlock, KeepsLinesAndColumns) {
    EXPECT_EQ(only_block(kText, "mapping"),
              "\n        \n# a comment\n  output_stationary: {m_ct: 32,\n}\n\n");
    EXPECT_EQ(without_block(kText, "mapping"), "device: xdna\n\n\n\n\nrun: {seed: 1}\n");
}

TEST(YamlBlock, AnAbsentBlockChangesNothing) {
    EXPECT_EQ(without_block(kText, "map"), kText);
}

}  // namespace
}  // namespace tilesim::sim::explore
