#include <gtest/gtest.h>

#include <string>

#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

Location error_of(const std::string& text) {
    try {
        parse(text);
    } catch (const ReadError& error) {
        return error.where();
    }
    return {0, 0};
}

TEST(Parser, AnOperationEndsWhereTheNextBegins) {
    const auto operations = parse(
        "%a, %b:2 = aie.tile(0, 1) {x = 1 : i32}  // comment\n"
        "aie.next_bd ^bb1 aie.end\n"
        "scf.for %i = %a to %b {\n}\n%c = arith.constant 1 : i32");
    ASSERT_EQ(operations.size(), 5U);
    EXPECT_EQ(operations[0].results, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(operations[1].name, "aie.next_bd");
    EXPECT_EQ(operations[3].regions().size(), 1U);
    EXPECT_EQ(operations[4].results.front(), "c");
    EXPECT_EQ(operations[4].where.line, 5U);
}

TEST(Parser, ABlockLabelIsNoOperand) {
    const auto operations = parse(
        "f.g {\n x.start(S2MM, 0, ^one, ^two)\n^one(%i: index):\n cf.br ^two\n^two:\n y.end }");
    const auto& blocks = operations[0].regions()[0]->blocks;
    ASSERT_EQ(blocks.size(), 3U);
    EXPECT_EQ(blocks[1].label, "one");
    EXPECT_EQ(blocks[1].arguments, std::vector<std::string>{"i"});
    EXPECT_EQ(blocks[2].operations.size(), 1U);
}

TEST(Parser, BracesHoldAttributesOrARegion) {
    const auto operations = parse("a.b {keep, n = 3 : i8, v = [1, 2]} {c.d} {}");
    EXPECT_EQ(operations[0].regions().size(), 2U);
    EXPECT_TRUE(operations[0].attribute("keep")->empty());
    EXPECT_EQ(operations[0].attribute("n")->front().token.text, "3");
    EXPECT_TRUE(operations[0].attribute("v")->front().opens("["));
    EXPECT_FALSE(operations[0].attribute("m").has_value());
}

TEST(Parser, LocationsOfAnotherFileAreLeftOut) {
    const auto with = [](const std::string& loc) {
        return text_of(parse("aie.device(npu1) {\n%t = aie.tile(0, 2) {x = 1 : i32}" + loc +
                             "\naie.dma_bd(%b : memref<4xi32> offset = 0)" + loc + "\n}" + loc));
    };
    EXPECT_EQ(with(" loc(#loc3)"), with(""));
    EXPECT_EQ(with(" loc(\"C:\\\\a.mlir\":3:5)"), with(""));
    EXPECT_EQ(parse("#loc = loc(unknown)\naie.end loc(#loc)").size(), 2U);
}

TEST(Parser, NamesThePlaceOfWhatIsWrong) {
    EXPECT_EQ(error_of("a.b {\n  ~").column, 3U);
    EXPECT_EQ(error_of("a.b (1, 2").column, 5U);  // the bracket that is not closed
    EXPECT_EQ(error_of("a.b\n  \"text").line, 2U);
    EXPECT_EQ(error_of("a.b )").column, 5U);
    EXPECT_EQ(error_of("word").column, 1U);
    EXPECT_EQ(error_of("a.b " + std::string(200, '(')).line, 1U);
}

MemrefType type_of(const std::string& text) {
    const auto operations = parse("a.b " + text);
    Cursor cursor(operations[0]);
    return read_memref(cursor);
}

TEST(MemrefType, CountsElementsAndBits) {
    EXPECT_EQ(type_of("memref<16x8xi8, 2 : i32>").bytes(), 128);
    EXPECT_EQ(type_of("memref<512 x i16>").bytes(), 1024);
    EXPECT_EQ(type_of("memref<bf16>").bytes(), 2);
    EXPECT_EQ(type_of("memref<3xi4>").bytes(), 2);  // rounded up
    // Block floating point: values of a byte, and one exponent a block.
    EXPECT_EQ(type_of("memref<4x16x!aiex.bfp<\"v8bfp16ebs8\">>").bytes(), 4 * 16 * 9);
    EXPECT_EQ(type_of("memref<16x!aiex.bfp<\"v16bfp16ebs16\">>").bytes(), 16 * 17);
    EXPECT_THROW(type_of("memref<16x!aiex.bfp<\"v7bfp16ebs8\">>"), ReadError);
}

TEST(MemrefType, ArgumentsMayLackSizes) {
    const auto operations = parse("a.b memref<3x?x4xi16>");
    Cursor cursor(operations[0]);
    const MemrefType type = read_argument_memref(cursor);
    EXPECT_FALSE(type.sized);
    EXPECT_EQ(type.elements, 12);
    EXPECT_EQ(type.element_bits, 16);
    const auto unranked = parse("a.b memref<*xbf16>");
    Cursor any(unranked[0]);
    EXPECT_FALSE(read_argument_memref(any).sized);
}

TEST(MemrefType, RefusesWhatHasNoSize) {
    EXPECT_THROW(type_of("memref<?xi32>"), ReadError);
    EXPECT_THROW(type_of("memref<4xthing>"), ReadError);
    EXPECT_THROW(type_of("memref<0xi32>"), ReadError);
    EXPECT_THROW(type_of("memref<9999999999x9999999999xi32>"), ReadError);
}

TEST(Integer, ReadsDecimalAndHexadecimal) {
    EXPECT_EQ(to_integer("-12"), -12);
    EXPECT_EQ(to_integer("0x1F"), 31);
    EXPECT_EQ(to_integer("4x"), std::nullopt);
    EXPECT_EQ(to_integer("99999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
