// What earlier compilers printed is read as what they would print today.
#include "workloads/npu/mlir/syntax/earlier_spellings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "workloads/npu/mlir/syntax/location.hpp"
#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

void expect_same(const std::string& earlier, const std::string& today) {
    EXPECT_EQ(text_of(parse(earlier)), text_of(parse(today)));
}

TEST(EarlierSpellings, NamesAreThoseOfToday) {
    expect_same("%t = AIE.tile(7, 2)\n%l = AIE.lock(%t, 3)\nAIE.useLock(%l, \"Acquire\", 1)",
                "%t = aie.tile(7, 2)\n%l = aie.lock(%t, 3)\naie.use_lock(%l, \"Acquire\", 1)");
    expect_same("AIE.shimmux(%t) { AIE.connect<\"DMA\" : 0, \"North\" : 3> }",
                "aie.shim_mux(%t) { aie.connect<\"DMA\" : 0, \"North\" : 3> }");
    expect_same("AIE.shimswitchbox(3) { AIE.connect<\"South\" : 3, \"North\" : 0> }",
                "aie.switchbox(%tile_3_0) { aie.connect<\"South\" : 3, \"North\" : 0> }");
    expect_same("AIEX.ipu.sync {column = 0 : i32}\naiex.ipu.rtp_write(@b, 0, 4)",
                "aiex.npu.sync {column = 0 : i32}\naiex.npu.rtp_write(@b, 0, 4)");
    expect_same(
        "AIE.broadcast_packet(%t, DMA : 0) { AIE.bp_id(1) { AIE.bp_dest<%u, DMA : 1> } }",
        "aiex.broadcast_packet(%t, DMA : 0) { aiex.bp_id(1) { aiex.bp_dest<%u, DMA : 1> } }");
}

TEST(EarlierSpellings, OperationsOnceNeededNoDialect) {
    expect_same("func private @k(memref<8xi32>)\n%c = constant 2 : index\ncall @k(%b) : () -> ()",
                "func.func private @k(memref<8xi32>)\n%c = arith.constant 2 : index\n"
                "func.call @k(%b) : () -> ()");
    expect_same("%a = std.subf %b, %c : f32", "%a = arith.subf %b, %c : f32");
    expect_same("%a = std.cosh %b : f32", "%a = arith.cosh %b : f32");
    expect_same("std.br ^a", "cf.br ^a");
    // Not where the word is no operation.
    expect_same("a.b {\n store = 1 : i32}", "a.b {store = 1 : i32}");
}

TEST(EarlierSpellings, DescriptorsHadTheirBufferInBrackets) {
    // Size and stride came in both orders: the sizes' product is the length.
    for (const char* dimensions : {"[<3, 16>, <8, 1>]", "[<16, 3>, <1, 8>]"}) {
        expect_same(fmt::format("AIE.dmaBd(<%b : memref<64xi32>, 8, 24>, 1, {})", dimensions),
                    "aie.dma_bd(%b : memref<64xi32>, 8, 24, [<size = 3, stride = 16>, "
                    "<size = 8, stride = 1>])");
    }
    // In 2023 dimensions had a wrap and a step, and for some months a key of their own.
    expect_same("aie.dma_bd(%b : memref<64xi32>, 8, 24, [<wrap = 3, step = 16>])",
                "aie.dma_bd(%b : memref<64xi32>, 8, 24, [<size = 3, stride = 16>])");
    expect_same(
        "aie.dma_bd(%b : memref<64xi32>, dims = [<size = 3, stride = 16>]) {len = 24 : i32}",
        "aie.dma_bd(%b : memref<64xi32>, [<size = 3, stride = 16>]) {len = 24 : i32}");
    expect_same("AIE.dmaStart(\"MM2S1\", ^a, ^e)", "aie.dma_start(\"MM2S\", 1, ^a, ^e)");
}

// In 2020 a channel was a value, and the branch on it its start.
TEST(EarlierSpellings, BranchesOnChannelsStartedThem) {
    expect_same(
        "AIE.mem(%t) { %d = AIE.dmaStart(\"MM2S0\")\n%e = AIE.dmaStart(\"S2MM1\")\n"
        "AIE.terminator(^a, ^b, ^end)\n^a:\ncond_br %d, ^bd0, ^end\n^bd0:\nbr ^end\n"
        "^b:\ncond_br %e, ^bd0, ^end\n^end:\nAIE.end }\ncond_br %c, ^x, ^y",
        "aie.mem(%t) { ^a:\naie.dma_start(\"MM2S\", 0, ^bd0, ^end)\n^bd0:\ncf.br ^end\n"
        "^b:\naie.dma_start(\"S2MM\", 1, ^bd0, ^end)\n^end:\naie.end }\ncf.cond_br %c, ^x, ^y");
}

// The elements are the length here.
TEST(EarlierSpellings, DimensionsOfObjectFifosHadNoNames) {
    for (const char* dimensions : {"[<3, 16>, <8, 1>]", "[<16, 3>, <1, 8>]"}) {
        expect_same(fmt::format("AIE.objectfifo @f (%a toStream {0}, {{%b fromStream {0}}}, 2 : "
                                "i32) : !AIE.objectfifo<memref<24xi32>>",
                                dimensions),
                    "aie.objectfifo @f (%a toStream [<size = 3, stride = 16>, <size = 8, stride = "
                    "1>], {%b fromStream [<size = 3, stride = 16>, <size = 8, stride = 1>]}, 2 : "
                    "i32) : !aie.objectfifo<memref<24xi32>>");
    }
}

TEST(EarlierSpellings, CommasAndParenthesesOfTheFirstYears) {
    expect_same("%d = AIE.dmaStart(S2MM, 0 ^bd0, ^end)", "%d = aie.dma_start(S2MM, 0, ^bd0, ^end)");
    expect_same("%d = AIE.dmaStart(MM2S1 ^bd0, ^end)", "%d = aie.dma_start(MM2S, 1, ^bd0, ^end)");
    expect_same("AIE.dmaBdPckt(0x5, 0xD)", "aie.dma_bd_packet(0x5, 0xD)");
    expect_same("AIE.broad_packet(%t, \"DMA\" : 0) { AIE.bp_id(0x0) { } }",
                "aiex.broadcast_packet(%t, \"DMA\" : 0) { aiex.bp_id(0x0) { } }");
    expect_same("AIE.shimDMAAllocation(@out, S2MM, 1, 2)",
                "aie.shim_dma_allocation @out(S2MM, 1, 2)");
}

TEST(EarlierSpellings, AnAcquireOnceTookItsCountFromItsResults) {
    expect_same("%a, %b = aie.objectfifo.acquire @f(Consume) : memref<4x2xi32>, memref<4x2xi32>",
                "%a, %b = aie.objectfifo.acquire @f(Consume, 2) : memref<4x2xi32>, "
                "memref<4x2xi32>");
    expect_same("%a = aie.objectfifo.acquire @f_prod : memref<8xi32>",
                "%a = aie.objectfifo.acquire @f_prod(1) : memref<8xi32>");
    expect_same("aie.objectfifo.release @f(Produce) [2]", "aie.objectfifo.release @f(Produce, 2)");
    expect_same("aie.objectfifo.release @f_prod [1]", "aie.objectfifo.release @f_prod(1)");
    // What states its count stays.
    expect_same("%a = aie.objectfifo.acquire @f_prod (1) : memref<8xi32>",
                "%a = aie.objectfifo.acquire @f_prod(1) : memref<8xi32>");
}

TEST(EarlierSpellings, ObjectFifosWereValues) {
    expect_same(
        "%f = AIE.objectFifo.createObjectFifo(%a, {%b}, 2) {sym_name = \"in\"} : "
        "!AIE.objectFifo<memref<8xi32>>\n"
        "%s = AIE.objectFifo.acquire<Produce>(%f : !AIE.objectFifo<memref<8xi32>>, 1)\n"
        "AIE.objectFifo.release<Produce>(%f : !AIE.objectFifo<memref<8xi32>>, 1)\n"
        "AIE.objectFifo.registerExternalBuffers(%a, %f : !AIE.objectFifo<memref<8xi32>>, {%e}) : "
        "(memref<8xi32>)",
        "aie.objectfifo @in (%a, {%b}, 2) {sym_name = \"in\"} : !aie.objectfifo<memref<8xi32>>\n"
        "%s = aie.objectfifo.acquire @in (Produce, 1)\n"
        "aie.objectfifo.release @in (Produce, 1)\n"
        "aie.objectfifo.register_external_buffers @in (%a, {%e}) : (memref<8xi32>)");
    expect_same(
        "%f = AIE.objectFifo.createObjectFifo(%a, {%b}, 2) : !AIE.objectFifo<memref<8xi32>>\n"
        "%g = AIE.objectFifo.createObjectFifo(%b, {%c}, 2) : !AIE.objectFifo<memref<8xi32>>\n"
        "AIE.objectFifo.link({%f}, {%g}) : ()\nAIE.objectFifo.link(%f, {%g}) : ()",
        "aie.objectfifo @f (%a, {%b}, 2) : !aie.objectfifo<memref<8xi32>>\n"
        "aie.objectfifo @g (%b, {%c}, 2) : !aie.objectfifo<memref<8xi32>>\n"
        "aie.objectfifo.link [@f] -> [@g] ()\naie.objectfifo.link [@f] -> [@g] ()");
    expect_same("%f = AIE.objectFifo.createObjectFifo(%a, %b, 4) : !AIE.objectFifo<memref<8xi32>>",
                "aie.objectfifo @f (%a, {%b}, 4) : !aie.objectfifo<memref<8xi32>>");
    EXPECT_THROW(parse("AIE.objectFifo.acquire<Consume>(%f : !x, 1)"), ReadError);
}

TEST(EarlierSpellings, ProcessesWereRegisteredToValues) {
    const std::string fifo =
        "%f = AIE.objectFifo.createObjectFifo(%a, {%b}, 2) : !AIE.objectFifo<memref<8xi32>>\n";
    expect_same(fifo +
                    "AIE.objectFifo.registerProcess<Produce>(%f : !AIE.objectFifo<memref<8xi32>>, "
                    "%p : tensor<1xi32>, %q : tensor<1xi32>, @work, %n)",
                "aie.objectfifo @f (%a, {%b}, 2) : !aie.objectfifo<memref<8xi32>>\n"
                "aie.objectfifo.register_process @f (Produce, %p : tensor<1xi32>, %q : "
                "tensor<1xi32>, @work, %n)");
}

TEST(EarlierSpellings, PacketSwitchedFifosHadANameOfTheirOwn) {
    expect_same("aie.packet_sw_objectfifo @f (%a, {%b}, 2 : i32) : !aie.objectfifo<memref<8xi32>>",
                "aie.objectfifo @f (%a, {%b}, 2 : i32) : !aie.objectfifo<memref<8xi32>> {packet}");
}

TEST(EarlierSpellings, TransfersHadCoordinates) {
    expect_same("aiex.npu.dma_memcpy_nd(0, %c, %a[0, 0][4, 1][1]) {id = 1 : i64}",
                "aiex.npu.dma_memcpy_nd(%a[0, 0][4, 1][1]) {id = 1 : i64}");
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
