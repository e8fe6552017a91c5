#include "arch/base/utf8.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::base {
namespace {

TEST(Utf8, CharactersOfEveryLengthAreText) {
    EXPECT_EQ(first_not_utf8(""), std::nullopt);
    EXPECT_EQ(first_not_utf8("a\u00b5\u20ac\U0001F600\n"), std::nullopt);
    EXPECT_EQ(first_not_utf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"), std::nullopt);
}

TEST(Utf8, WhatIsNoCharacterIsFoundWhereItBegins) {
    EXPECT_EQ(first_not_utf8("ab\xFF"), 2U);
    EXPECT_EQ(first_not_utf8("\x80"), 0U);              // goes on with nothing
    EXPECT_EQ(first_not_utf8("a\xC3("), 1U);            // ends too early
    EXPECT_EQ(first_not_utf8("a\xE2\x82"), 1U);         // cut
    EXPECT_EQ(first_not_utf8("\xC1\xBF"), 0U);          // overlong
    EXPECT_EQ(first_not_utf8("\xE0\x9F\xBF"), 0U);      // overlong
    EXPECT_EQ(first_not_utf8("\xED\xA0\x80"), 0U);      // a surrogate
    EXPECT_EQ(first_not_utf8("\xF4\x90\x80\x80"), 0U);  // beyond the last
}

TEST(Utf8, ThePlaceIsCountedInCharacters) {
    EXPECT_EQ(not_utf8("f.yaml", "a: 1\n\u00b5: \xFE\n", 9),
              "f.yaml:2:4: must be UTF-8 text, got the byte 0xfe");
}

TEST(Utf8, OfControlCharactersTextHoldsTabsAndEndsOfLinesAlone) {
    const auto problem = [](std::string_view text) -> std::string {
        try {
            require_text("f.csv", text);
        } catch (const config::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem("\ta\r\n\u00b5"), "");
    EXPECT_EQ(problem("\n\u00b5\x1B[31m"),
              "f.csv:2:2: must be text, got the control character 0x1b");
    EXPECT_EQ(problem(std::string_view{"a\0", 2}),
              "f.csv:1:2: must be text, got the control character 0x00");
    EXPECT_EQ(problem("\x7F\xFF"), "f.csv:1:2: must be UTF-8 text, got the byte 0xff");
}

TEST(Utf8, AByteOrderMarkInFrontIsLeftOut) {
    EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFM,K"), "M,K");
    EXPECT_EQ(without_byte_order_mark("M,\xEF\xBB\xBFK"), "M,\xEF\xBB\xBFK");
    EXPECT_EQ(without_byte_order_mark(""), "");
}

}  // namespace
}  // namespace tilesim::arch::base
