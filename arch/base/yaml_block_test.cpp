#include "arch/base/yaml_block.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base::config {
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

TEST(YamlBlock, AnAliasOfWhatStandsElsewhereIsReplacedByIt) {
    const std::string text =
        "axes:\n"
        "  - &sizes [&one 1, 'a: b', {k: ~, \"l\": *one}]\n"
        "  - &own\n"
        "    m: x, y\n"
        "scenario:\n"
        "  a: {b: &c 7, d: *c, e: *one}  # *one\n"
        "  f: *sizes\n"
        "  g: *own\n"
        "  h: '*one'\n";
    EXPECT_EQ(only_block(text, "scenario"),
              "\n\n\n\n         \n"
              "  a: {b: &c 7, d: *c, e: \"1\"}  # *one\n"
              "  f: [\"1\", \"a: b\", {\"k\": ~, \"l\": \"1\"}]\n"
              "  g: {\"m\": \"x, y\"}\n"
              "  h: '*one'\n");
    // The whole of it.
    EXPECT_EQ(only_block("base: &b {m: 1}\nscenario: *b\n", "scenario"),
              "\n          {\"m\": \"1\"}\n");
}

TEST(YamlBlock, AnAbsentBlockChangesNothing) {
    EXPECT_EQ(without_block(kText, "map"), kText);
}

TEST(YamlBlock, AMapInBracesAndAKeyInQuotesAreCutToo) {
    const std::string json = R"({"device": "a", "mapping": {"a": {"m": 32}}, "run": {"seed": 1}})";
    EXPECT_EQ(only_block(json, "mapping"), "{a: {m: 32}}\n");
    EXPECT_EQ(without_block(json, "mapping"), "{device: a, run: {seed: 1}}\n");
    EXPECT_EQ(without_block(json, "map"), json + "\n");
    const std::string quoted = "\"mapping\":\n  m: 32\ndevice: a\n";
    EXPECT_EQ(only_block(quoted, "mapping"), "m: 32\n");
    EXPECT_EQ(without_block(quoted, "mapping"), "device: a\n");
}

}  // namespace
}  // namespace tilesim::arch::base::config
