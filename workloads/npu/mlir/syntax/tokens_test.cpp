#include "workloads/npu/mlir/syntax/tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/npu/mlir/syntax/location.hpp"
#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

using testing::HasSubstr;

std::string today(const std::string& device, const std::string& body) {
    auto operations = parse("aie.device(" + device + ") {\n" + body + "}\n");
    write_tokens_as_locks(operations);
    return text_of(operations);
}
std::string as_written(const std::string& device, const std::string& body) {
    return text_of(parse("aie.device(" + device + ") {\n" + body + "}\n"));
}

constexpr const char* kTiles = "%a = aie.tile(3, 3)\n%b = aie.tile(3, 4)\n";

// What one core releases to 1 another acquires at 1; the first waits until the second has released
// in turn before it writes again.
TEST(Tokens, AValueHandedOverIsALock) {
    const std::string cores =
        "aiex.token(0) {sym_name = \"t\"}\n"
        "aie.core(%a) { aiex.useToken @t(Acquire, 0)\naiex.useToken @t(Release, 1)\naie.end }\n"
        "aie.core(%b) { aiex.useToken @t(Acquire, 1)\naiex.useToken @t(Release, 2)\naie.end }\n";
    EXPECT_EQ(today("xcvc1902", kTiles + cores),
              as_written("xcvc1902", std::string{kTiles} +
                                         "aie.core(%a) { aie.use_lock(%t_1_0, Acquire, 0)\n"
                                         "aie.use_lock(%t_1_0, Release, 1)\naie.end }\n"
                                         "aie.core(%b) { aie.use_lock(%t_1_0, Acquire, 1)\n"
                                         "aie.use_lock(%t_1_0, Release, 0)\naie.end }\n"
                                         "%t_1_0 = aie.lock(%b) {init = 0 : i32}\n"));
    // Counting locks: one counts what is handed over, one what is free.
    EXPECT_EQ(today("npu1", kTiles + cores),
              as_written("npu1", std::string{kTiles} +
                                     "aie.core(%a) { aie.use_lock(%t_1_0_free, "
                                     "AcquireGreaterEqual, 1)\n"
                                     "aie.use_lock(%t_1_0, Release, 1)\naie.end }\n"
                                     "aie.core(%b) { aie.use_lock(%t_1_0, AcquireGreaterEqual, 1)\n"
                                     "aie.use_lock(%t_1_0_free, Release, 1)\naie.end }\n"
                                     "%t_1_0 = aie.lock(%b) {init = 0 : i32}\n"
                                     "%t_1_0_free = aie.lock(%b) {init = 1 : i32}\n"));
}

// Of cores side by side one reaches the other's memory: AIE1's even rows look east.
TEST(Tokens, TheLockLiesWhereBothReachIt) {
    const auto tile_of_lock = [](const std::string& device, int row) {
        const std::string text =
            today(device, "%a = aie.tile(3, " + std::to_string(row) + ")\n%b = aie.tile(4, " +
                              std::to_string(row) +
                              ")\naiex.token(0) {sym_name = \"t\"}\n"
                              "aie.core(%a) { aiex.useToken @t(Release, 1)\naie.end }\n"
                              "aie.core(%b) { aiex.useToken @t(Acquire, 1)\naie.end }\n");
        return text[text.find("aie.lock ( ") + std::string{"aie.lock ( "}.size()];
    };
    EXPECT_EQ(tile_of_lock("xcvc1902", 2), 'b');
    EXPECT_EQ(tile_of_lock("xcvc1902", 3), 'a');
    EXPECT_EQ(tile_of_lock("npu1", 2), 'a');
}

// A copy is a descriptor at each end, a stream between, and a channel of its own.
TEST(Tokens, ACopyIsADmaAtBothEndsAndAStream) {
    const std::string text = today(
        "xcvc1902", std::string{kTiles} +
                        "%x = aie.buffer(%a) : memref<8xi32>\n%y = aie.buffer(%b) : memref<8xi32>\n"
                        "aiex.token(0) {sym_name = \"t\"}\n"
                        "aie.core(%a) { aiex.useToken @t(Release, 1)\naie.end }\n"
                        "aie.core(%b) { aiex.useToken @t(Acquire, 2)\naie.end }\n"
                        "aiex.memcpy @t(1, 2) (%a : <%x, 0, 8>, %b : <%y, 4, 4>) : (memref<8xi32>, "
                        "memref<8xi32>)\n");
    EXPECT_EQ(text, as_written(
                        "xcvc1902",
                        std::string{kTiles} +
                            "%x = aie.buffer(%a) : memref<8xi32>\n"
                            "%y = aie.buffer(%b) : memref<8xi32>\n"
                            "aie.core(%a) { aie.use_lock(%t_1_0, Release, 1)\naie.end }\n"
                            "aie.core(%b) { aie.use_lock(%t_2_1, Acquire, 1)\naie.end }\n"
                            "aie.flow(%a, DMA : 0, %b, DMA : 0)\n"
                            "aie.mem(%a) { aie.dma_start(MM2S, 0, ^copy0, ^end)\n^copy0:\n"
                            "aie.use_lock(%t_1_0, Acquire, 1)\n"
                            "aie.dma_bd(%x : memref<8xi32>, 0, 8)\n"
                            "aie.use_lock(%t_1_0, Release, 0)\naie.next_bd ^end\n^end:\naie.end }\n"
                            "aie.mem(%b) { aie.dma_start(S2MM, 0, ^copy0, ^end)\n^copy0:\n"
                            "aie.use_lock(%t_2_1, Acquire, 0)\n"
                            "aie.dma_bd(%y : memref<8xi32>, 4, 4)\n"
                            "aie.use_lock(%t_2_1, Release, 1)\naie.next_bd ^end\n^end:\naie.end }\n"
                            "%t_1_0 = aie.lock(%a) {init = 0 : i32}\n"
                            "%t_2_1 = aie.lock(%b) {init = 0 : i32}\n"));
}

TEST(Tokens, ACallOnATileIsItsCore) {
    EXPECT_EQ(today("xcvc1902",
                    "%a = aie.tile(3, 3)\n%x = memref.alloc() : memref<8xi32>\n"
                    "func.func @f(%p: memref<8xi32>) { memref.store %c, %p[%i] : memref<8xi32>\n"
                    "func.return }\n"
                    "func.call @f(%x) {aie.x = 3, aie.y = 3} : (memref<8xi32>) -> ()\n"
                    "func.call @f(%x) {aie.x = 3, aie.y = 3} : (memref<8xi32>) -> ()\n"),
              as_written("xcvc1902",
                         "%a = aie.tile(3, 3)\n%x = aie.buffer(%a) : memref<8xi32>\n"
                         "aie.core(%a) { memref.store %c, %x[%i] : memref<8xi32>\n"
                         "memref.store %c, %x[%i] : memref<8xi32>\naie.end }\n"));
}

TEST(Tokens, WhatIsIncompleteIsRefused) {
    const auto refusal = [](const std::string& text) {
        return refusal_behind(0, [&] { today("xcvc1902", kTiles + text); });
    };
    EXPECT_THAT(refusal("aiex.token(0) {sym_name = \"t\"}\n"
                        "aie.core(%a) { aiex.useToken @u(Acquire, 0)\naie.end }\n"),
                HasSubstr("no aiex.token is named @u"));
    EXPECT_THAT(refusal("func.call @f(%x) {aie.x = 3, aie.y = 3} : (memref<8xi32>) -> ()\n"),
                HasSubstr("@f is no function whose body could be a core's"));
    EXPECT_THAT(refusal("aie.mem(%a) { aie.end }\n"
                        "aiex.memcpy @t(1, 2) (%a : <%x, 0, 8>, %b : <%y, 4, 4>) : (memref<8xi32>, "
                        "memref<8xi32>)\n"),
                HasSubstr("%a has a DMA of its own beside aiex.memcpy"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
