#include "workloads/npu/mlir/syntax/dense_words.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

using Words = std::vector<std::uint32_t>;

std::optional<Words> words(const std::string& type, const std::string& value) {
    const auto operations = parse("test.op : memref<" + type + "> = dense<" + value + ">");
    Cursor cursor(operations.at(0));
    cursor.expect(":");
    return dense_words(*dense_value(operations[0].items), read_memref(cursor));
}

TEST(DenseWords, LieInMemoryOneBehindTheOther) {
    EXPECT_EQ(words("3xi32", "[1, -2, 0x10]"), (Words{1, 0xFFFFFFFE, 16}));
    EXPECT_EQ(words("2x3xi16", "[[1, 2, 3], [4, 5, -1]]"),
              (Words{0x00020001, 0x00040003, 0xFFFF0005}));
    EXPECT_EQ(words("5xi8", "[1, 2, 3, 4, -5]"), (Words{0x04030201, 0xFB}));
    EXPECT_EQ(words("1xi64", "[4294967299]"), (Words{3, 1}));
    EXPECT_EQ(words("2xi1", "[true, false]"), std::nullopt);  // no whole bytes
}

TEST(DenseWords, OneValueIsOfEveryElement) {
    EXPECT_EQ(words("3xi16", "7"), (Words{0x00070007, 7}));
    EXPECT_EQ(words("2xf32", "1.5"), (Words{0x3FC00000, 0x3FC00000}));
}

// bf16 is the upper half of a float: 1.00390625 lies between two and goes to the even one.
TEST(DenseWords, FloatsAreTheirBits) {
    EXPECT_EQ(words("2xbf16", "[1.0, -2.0]"), (Words{0xC0003F80}));
    EXPECT_EQ(words("2xbf16", "[1.00390625, 1.01171875]"), (Words{0x3F823F80}));
    EXPECT_EQ(words("1xf64", "[1.0]"), (Words{0, 0x3FF00000}));
    EXPECT_EQ(words("2xf16", "[1.0, 2.0]"), std::nullopt);
}

TEST(DenseWords, ATextOfDigitsIsTheBytesInTheirOrder) {
    EXPECT_EQ(words("2xi32", "\"0x01020304FFFFFFFF\""), (Words{0x04030201, 0xFFFFFFFF}));
    EXPECT_EQ(words("4xi8", "\"0xAB\""), (Words{0xABABABAB}));
    EXPECT_EQ(words("2xi32", "\"0x010203\""), std::nullopt);
    EXPECT_EQ(words("2xi32", "\"0x0102030g\""), std::nullopt);
}

TEST(DenseWords, AsManyAsTheTypeHas) {
    EXPECT_EQ(words("3xi32", "[1, 2]"), std::nullopt);
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
