// Rows that a core keeps on a memory tile become object FIFOs there and back.
#include "workloads/npu/mlir/syntax/row_stores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

std::string device(const std::string& text) {
    return "aie.device(npu2) {\n%m = aie.tile(0, 1)\n%c = aie.tile(0, 2)\n" + text + "aie.end\n}\n";
}

std::vector<Operation> written(const std::string& text) {
    std::vector<Operation> operations = parse(device(text));
    write_row_stores_as_fifos(operations);
    return operations;
}

TEST(RowStores, AreObjectFifosThereAndBack) {
    EXPECT_EQ(text_of(written(R"(
aie.memtile_row_store @r(%c, %m) {part_count = 4 : i32, buffer_count = 2 : i32, compute_buffer_count = 3 : i32, compute_consume_buffer_count = 1 : i32, compute_s2mm_channel = 1 : i32} : memref<8x2xbf16>
aie.core(%c) {
  %x = aie.memtile_row_store.acquire @r (Produce) : memref<8x2xbf16>
  scf.for %i = %a to %b step %s {
    aie.memtile_row_store.release @r(Consume)
  }
  aie.end
}
)")),
              text_of(parse(device(R"(
aie.core(%c) {
  %x = aie.objectfifo.acquire @r_in (Produce, 1) : memref<8x2xbf16>
  scf.for %i = %a to %b step %s {
    aie.objectfifo.release @r_out(Consume, 1)
  }
  aie.end
}
aie.objectfifo @r_in(%c, {%m}, [3, 2]) {prod_dma_channel = 0 : i32, cons_dma_channels = [0]} : !aie.objectfifo<memref<8xi32>> -> !aie.objectfifo<memref<32xi32>>
aie.objectfifo @r_out(%m, {%c}, [2, 1]) {prod_dma_channel = 1 : i32, cons_dma_channels = [1]} : !aie.objectfifo<memref<32xi32>> -> !aie.objectfifo<memref<8xi32>>
aie.objectfifo.link [@r_in] -> [@r_out] ([] [])
)"))));
}

TEST(RowStores, NeedPartsOfWholeWords) {
    for (const char* store :
         {"{part_count = 0 : i32} : memref<2xi32>", "{part_count = 2 : i32} : memref<3xi8>"}) {
        EXPECT_THAT(
            refusal_behind(
                3,
                [&] { written("aie.memtile_row_store @r(%c, %m) " + std::string{store} + "\n"); }),
            testing::HasSubstr("parts of whole words"));
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
