#include "sim/explore/expression.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tilesim::sim::explore {
namespace {

bool holds(const std::string& text) {
    return Expression{text}.holds([](const std::string& key) -> std::optional<std::string> {
        if (key == "device") {
            return "xdna2";
        }
        if (key == "gemm.M") {
            return "512";
        }
        return key == "device.npu.core.memory" ? std::optional<std::string>{"64 KiB"}
                                               : std::nullopt;
    });
}

TEST(Expression, OperatorsBindAsInArithmetic) {
    EXPECT_TRUE(holds("gemm.M + 2 * 3 == 518"));
    EXPECT_TRUE(holds("(gemm.M + 2) * 3 == 1542"));
    EXPECT_TRUE(holds("gemm.M % 7 == 1 and gemm.M / 2 >= 256"));
    EXPECT_TRUE(holds("10 - 2 - 3 == 5"));
    EXPECT_TRUE(holds("-1 < 0 and not gemm.M < 512"));
    EXPECT_TRUE(holds("1 == 2 or 1 == 1 and 2 == 2"));
    EXPECT_FALSE(holds("gemm.M > 512"));
    EXPECT_TRUE(holds("gemm.M != 513"));
    EXPECT_TRUE(holds("not gemm.M > 600"));
    EXPECT_TRUE(holds("not gemm.M < 512 and gemm.M + 1 == 513"));
    EXPECT_FALSE(holds("not (gemm.M > 600 or gemm.M == 512)"));
    EXPECT_FALSE(holds("not not gemm.M > 600"));
}

TEST(Expression, NamesAndQuantitiesCompare) {
    EXPECT_TRUE(holds("device == xdna2"));
    EXPECT_FALSE(holds("device == 'xdna'"));
    EXPECT_TRUE(holds("device.npu.core.memory == 65536"));
    EXPECT_TRUE(holds("device.npu.core.memory > '63 KiB'"));
    EXPECT_TRUE(holds("device.npu.core.memory * 2 > '100 KiB' + '27 KiB'"));
    EXPECT_TRUE(holds("device.npu.core.memory / '1 KiB' == gemm.M / 8"));
}

TEST(Expression, WhatIsWrongIsSaidWithItsColumn) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            return holds(text) ? "true" : "false";
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
    };
    EXPECT_EQ(message("gemm.M >"), "column 9: a key or a value must stand here, got the end");
    EXPECT_EQ(message("gemm.M 5"), "column 8: an operator must stand here, got '5'");
    EXPECT_EQ(message("(gemm.M"), "column 8: ')' must stand here, got the end");
    EXPECT_EQ(message("'a"), "column 1: quote not closed");
    EXPECT_EQ(message("gemm.X > 1"), "'gemm.X' is no key of these points");
    EXPECT_EQ(message("device > 1"), "'>' needs numbers, got 'xdna2'");
    EXPECT_EQ(message("gemm.M / 0 > 1"), "'/' by zero");
    EXPECT_EQ(message("device.npu.core.memory > '1 ns'"), "'>' of B and fs");
    EXPECT_EQ(message("device.npu.core.memory == '1 GHz'"), "'==' of B and Hz");
    EXPECT_EQ(message("device.npu.core.memory - '1 cycle' > 0"), "'-' of B and cycle");
    for (const char* text : {"1", "gemm.M", "gemm.M - 512", "device", "(gemm.M)", "-1"}) {
        EXPECT_EQ(message(text), "column 1: a comparison must stand here") << text;
    }
    EXPECT_EQ(message("gemm.M > 1 and gemm.M"), "column 16: a comparison must stand here");
    EXPECT_EQ(message("gemm.M or gemm.M > 1"), "column 1: a comparison must stand here");
    EXPECT_EQ(message("not gemm.M"), "column 5: a comparison must stand here");
    EXPECT_EQ(message("1 < gemm.M < 5"), "column 12: 'and' or 'or' must stand here, got '<'");
    EXPECT_EQ(message("gemm.M + not 1 > 2"),
              "column 10: a key or a value must stand here, got 'not'");
    EXPECT_NE(message(std::string(100'000, '(')).find("less nesting"), std::string::npos);
}

}  // namespace
}  // namespace tilesim::sim::explore
