#include "workloads/npu/mlir/syntax/conduits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/npu/mlir/syntax/location.hpp"
#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

using testing::HasSubstr;

const std::string kTiles = "%a = aie.tile(0, 2)\n%b = aie.tile(0, 4)\n";
const std::string kCreate =
    "conduit.create {name = \"c\", capacity = 8 : i64, producer_tile = array<i64: 0, 2>, "
    "consumer_tiles = array<i64: 0, 4>, element_type = memref<8xi32>, depth = 2 : i64}\n";
const std::string kFifo = "aie.objectfifo @c(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<8xi32>>\n";

std::string today(const std::string& body) {
    auto operations = parse("aie.device(npu1) {\n" + body + "}\n");
    write_conduits_as_fifos(operations);
    return text_of(operations);
}
std::string as_written(const std::string& body) {
    return text_of(parse("aie.device(npu1) {\n" + body + "}\n"));
}

TEST(Conduits, AreObjectFifosOfTheirTiles) {
    EXPECT_EQ(today(kTiles + kCreate +
                    "aie.core(%a) { %w = conduit.acquire {name = \"c\", count = 2 : i64, port = "
                    "#conduit.port<Produce>} : !conduit.window<memref<8xi32>>\n"
                    "%x = conduit.subview_access %w {index = 1 : i64} : "
                    "!conduit.window<memref<8xi32>> -> memref<8xi32>\n"
                    "conduit.release %w {count = 1 : i64, port = #conduit.port<Produce>} : "
                    "!conduit.window<memref<8xi32>>\naie.end }\n"),
              as_written(kTiles +
                         "aie.core(%a) { %w = aie.objectfifo.acquire @c(Produce, 2) : "
                         "!aie.objectfifosubview<memref<8xi32>>\n"
                         "%x = aie.objectfifo.subview.access %w[1] : "
                         "!aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>\n"
                         "aie.objectfifo.release @c(Produce, 1)\naie.end }\n" +
                         kFifo));
}

// What is acquired without waiting is taken where the core waits for it.
TEST(Conduits, AreTakenWhereTheCoreWaits) {
    EXPECT_EQ(today(kTiles + kCreate +
                    "aie.core(%b) { %t = conduit.acquire_async {name = \"c\", count = 1 : i64} : "
                    "!conduit.window.token\n"
                    "conduit.wait_all %t : !conduit.window.token\n"
                    "%w = conduit.wait_window %t for \"c\" : !conduit.window.token -> "
                    "!conduit.window<memref<8xi32>>\n"
                    "%r = conduit.release_async {name = \"c\", count = 1 : i64, port = "
                    "#conduit.port<Consume>} : !conduit.window.token\n"
                    "conduit.wait %r : !conduit.window.token\naie.end }\n"),
              as_written(kTiles +
                         "aie.core(%b) { %w = aie.objectfifo.acquire @c(Consume, 1) : "
                         "!aie.objectfifosubview<memref<8xi32>>\n"
                         "aie.objectfifo.release @c(Consume, 1)\naie.end }\n" +
                         kFifo));
}

TEST(Conduits, WhatIsIncompleteIsRefused) {
    const auto refusal = [](const std::string& text) {
        return refusal_behind(0, [&] { today(kTiles + text); });
    };
    EXPECT_THAT(refusal("conduit.create {name = \"c\", depth = 1 : i64}\n"),
                HasSubstr("needs a name and an element_type"));
    EXPECT_THAT(refusal("conduit.create {name = \"c\", element_type = memref<8xi32>}\n"),
                HasSubstr("producer_tile of conduit c is no list"));
    EXPECT_THAT(refusal(kCreate + "aie.core(%a) { %w = conduit.acquire {name = \"d\"} : !w\n"
                                  "aie.end }\n"),
                HasSubstr("no conduit is named @d"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
