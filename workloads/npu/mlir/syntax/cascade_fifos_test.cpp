// Object FIFOs over a cascade become cascades.
#include "workloads/npu/mlir/syntax/cascade_fifos.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

using testing::HasSubstr;

std::string device(const std::string& text) {
    return "aie.device(npu1) {\n%a = aie.tile(0, 3)\n%b = aie.tile(1, 3)\n" + text + "aie.end\n}\n";
}

std::vector<Operation> written(const std::string& text) {
    std::vector<Operation> operations = parse(device(text));
    write_cascade_fifos_as_cascades(operations);
    return operations;
}

std::string fifo(const std::string& consumers, int depth, const std::string& more,
                 const std::string& element) {
    return "aie.objectfifo @f(%a, {" + consumers + "}, " + std::to_string(depth) +
           " : i32) {transport = #aie.transport<cascade>" + more + "} : !aie.objectfifo<memref<" +
           element + ">>\n";
}

TEST(CascadeFifos, PutWhatIsStoredAndGetWhatIsLoaded) {
    const std::string text = text_of(written(fifo("%b", 1, "", "1xvector<16xi32>") + R"(
aie.core(%a) {
  scf.for %i = %l to %u step %s {
    %x = aie.objectfifo.acquire @f(Produce, 1) : memref<1xvector<16xi32>>
    memref.store %v, %x[%l] : memref<1xvector<16xi32>>
    aie.objectfifo.release @f(Produce, 1)
  }
  aie.end
}
aie.core(%b) {
  %x = aie.objectfifo.acquire @f(Consume, 1) : !aie.objectfifosubview<memref<1xvector<16xi32>>>
  %y = aie.objectfifo.subview.access %x[0] : !aie.objectfifosubview<memref<1xvector<16xi32>>> -> memref<1xvector<16xi32>>
  %r = memref.load %y[%l] : memref<1xvector<16xi32>>
  memref.store %r, %other[%l] : memref<1xvector<16xi32>>
  aie.objectfifo.release @f(Consume, 1)
  aie.end
}
)"));
    EXPECT_EQ(text, text_of(parse(device(R"(
aie.core(%a) {
  scf.for %i = %l to %u step %s {
    aie.put_cascade(%v : vector<16xi32>)
  }
  aie.end
}
aie.core(%b) {
  %r = aie.get_cascade() : vector<16xi32>
  memref.store %r, %other[%l] : memref<1xvector<16xi32>>
  aie.end
}
aie.cascade_flow(%a, %b)
)"))));
}

TEST(CascadeFifos, OthersStayAsTheyAre) {
    const std::string text =
        "aie.objectfifo @f(%a, {%b}, 2 : i32) {transport = #aie.transport<dma>} : "
        "!aie.objectfifo<memref<16xi32>>\n";
    EXPECT_EQ(text_of(written(text)), text_of(parse(device(text))));
}

TEST(CascadeFifos, WhatACascadeDoesNotHaveIsRefused) {
    const auto refused = [](const std::string& text) {
        return refusal_behind(0, [&] { written(text); });
    };
    EXPECT_THAT(refused(fifo("%b, %a", 1, "", "1xvector<16xi32>")), HasSubstr("has one consumer"));
    EXPECT_THAT(refused(fifo("%b", 2, "", "1xvector<16xi32>")), HasSubstr("its depth is 1"));
    EXPECT_THAT(refused(fifo("%b", 1, ", repeat_count = 2 : i32", "1xvector<16xi32>")),
                HasSubstr("nothing is repeated"));
    EXPECT_THAT(refused(fifo("%b", 1, "", "4xvector<16xi32>")), HasSubstr("is one vector"));
    EXPECT_THAT(refused(fifo("%b", 1, "", "16xi32")), HasSubstr("is one vector"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
