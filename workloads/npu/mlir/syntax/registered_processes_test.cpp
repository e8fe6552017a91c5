// A function registered to an object FIFO becomes the core that the compiler's pass writes.
#include "workloads/npu/mlir/syntax/registered_processes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/npu/mlir/syntax/syntax_testing.hpp"

namespace tilesim::workloads::npu::mlir::syntax {
namespace {

constexpr const char* kDeclared = R"(
%a = aie.tile(1, 2)
%b = aie.tile(1, 3)
%c = aie.tile(3, 3)
aie.objectfifo @f(%a dimensionsToStream [<size = 1, stride = 2>], {%c, %b}, 4 : i32) : !aie.objectfifo<memref<16xi32>>
func.func @work() -> () {
  return
}
func.func @with(%view : memref<16xi32>) {
  return
}
%ten = arith.constant 10 : index
%one = arith.constant dense<[1]> : tensor<1xi32>
%all_one = arith.constant dense<1> : tensor<4xi32>
%some = arith.constant dense<[2, 3, 3, 2]> : tensor<4xi32>
%last = arith.constant dense<[0, 1, 1, 2]> : tensor<4xi32>
%none = arith.constant dense<1> : tensor<0xi32>
%less = arith.constant dense<[1, -1]> : tensor<2xi32>
%four = arith.constant 4 : index
%never = arith.constant 0 : index
)";

std::string device(const std::string& text) {
    return fmt::format("module {{\naie.device(xcvc1902) {{\n{}{}aie.end\n}}\n}}\n", kDeclared,
                       text);
}

void expect_same(const std::string& registered, const std::string& written_out) {
    std::vector<Operation> operations = parse(device(registered));
    write_registered_processes(operations);
    EXPECT_EQ(text_of(operations), text_of(parse(device(written_out))));
}

std::string refusal(const std::string& arguments, const std::string& before = "") {
    std::vector<Operation> operations =
        parse(device(before + "aie.objectfifo.register_process " + arguments + "\n"));
    return refusal_behind(1, [&] { write_registered_processes(operations); });
}

TEST(RegisteredProcesses, APatternOfOneIsALoopOfTheProcessesLength) {
    expect_same(
        "aie.objectfifo.register_process @f (Produce, %one : tensor<1xi32>, %one : tensor<1xi32>, "
        "@work, %ten)\n",
        R"(aie.core(%a) {
  scf.for %run = 0 to 10 step 1 {
    %registered = aie.objectfifo.acquire @f(Produce, 1)
    func.call @work() : () -> ()
    aie.objectfifo.release @f(Produce, 1)
  }
  aie.end
}
)");
}

TEST(RegisteredProcesses, EqualNeighboursOfAPatternAreOneLoop) {
    expect_same(
        "aie.objectfifo.register_process @f (Produce, %some : tensor<4xi32>, %last : "
        "tensor<4xi32>, @work, %ten)\n",
        R"(aie.core(%a) {
  %registered = aie.objectfifo.acquire @f(Produce, 2)
  func.call @work() : () -> ()
  scf.for %run = 0 to 2 step 1 {
    %registered = aie.objectfifo.acquire @f(Produce, 3)
    func.call @work() : () -> ()
    aie.objectfifo.release @f(Produce, 1)
  }
  %registered = aie.objectfifo.acquire @f(Produce, 2)
  func.call @work() : () -> ()
  aie.objectfifo.release @f(Produce, 2)
  aie.end
}
)");
}

TEST(RegisteredProcesses, OneNumberStandsForAsManyAsTheProcessIsLong) {
    const std::string written = R"(aie.core(%a) {
  %registered = aie.objectfifo.acquire @f(Produce, 1)
  func.call @work() : () -> ()
  scf.for %run = 0 to 2 step 1 {
    %registered = aie.objectfifo.acquire @f(Produce, 1)
    func.call @work() : () -> ()
    aie.objectfifo.release @f(Produce, 1)
  }
  %registered = aie.objectfifo.acquire @f(Produce, 1)
  func.call @work() : () -> ()
  aie.objectfifo.release @f(Produce, 2)
  aie.end
}
)";
    for (const char* const acquires : {"%one : tensor<1xi32>", "%all_one : tensor<4xi32>"}) {
        expect_same(fmt::format("aie.objectfifo.register_process @f (Produce, {}, %last : "
                                "tensor<4xi32>, @work, %four)\n",
                                acquires),
                    written);
    }
}

TEST(RegisteredProcesses, WhereNothingIsAcquiredNothingIsCalled) {
    expect_same(
        "aie.objectfifo.register_process @f (Produce, %last : tensor<4xi32>, %some : "
        "tensor<4xi32>, @work, %four)\n",
        R"(aie.core(%a) {
  aie.objectfifo.release @f(Produce, 2)
  scf.for %run = 0 to 2 step 1 {
    %registered = aie.objectfifo.acquire @f(Produce, 1)
    func.call @work() : () -> ()
    aie.objectfifo.release @f(Produce, 3)
  }
  %registered = aie.objectfifo.acquire @f(Produce, 2)
  func.call @work() : () -> ()
  aie.objectfifo.release @f(Produce, 2)
  aie.end
}
)");
}

// The first consumer that is registered is the FIFO's first; a core that is there keeps its code,
// behind what is registered to it.
TEST(RegisteredProcesses, ConsumersComeInTheOrderOfTheFifo) {
    const std::string consumer =
        "aie.objectfifo.register_process @f (Consume, %one : tensor<1xi32>, %one : tensor<1xi32>, "
        "@work, %ten)\n";
    const std::string body = R"(  scf.for %run = 0 to 10 step 1 {
    %registered = aie.objectfifo.acquire @f(Consume, 1)
    func.call @work() : () -> ()
    aie.objectfifo.release @f(Consume, 1)
  }
)";
    expect_same(
        consumer + "aie.core(%b) {\n  func.call @work() : () -> ()\n  aie.end\n}\n" + consumer,
        "aie.core(%b) {\n" + body + "  func.call @work() : () -> ()\n  aie.end\n}\n" +
            "aie.core(%c) {\n" + body + "  aie.end\n}\n");
}

TEST(RegisteredProcesses, WhatCannotBeIsRefusedAtItsPlace) {
    using testing::HasSubstr;
    const std::string one = "%one : tensor<1xi32>";
    const std::string consume = "@f (Consume, " + one + ", " + one + ", @work, %ten)";
    const std::string again = "aie.objectfifo.register_process " + consume + "\n";
    EXPECT_THAT(refusal(consume, again + again), HasSubstr("no consumer left"));
    EXPECT_THAT(refusal("@g (Produce, " + one + ", " + one + ", @work, %ten)"),
                HasSubstr("no object FIFO is named @g"));
    EXPECT_THAT(refusal("@f (Make, " + one + ", " + one + ", @work, %ten)"),
                HasSubstr("expected Produce or Consume, got 'Make'"));
    EXPECT_THAT(refusal("@f (Produce, " + one + ", " + one + ", @play, %ten)"),
                HasSubstr("no function @play"));
    EXPECT_THAT(refusal("@f (Produce, " + one + ", " + one + ", @with, %ten)"),
                HasSubstr("@with takes arguments"));
    EXPECT_THAT(refusal("@f (Produce, " + one + ", " + one + ", @work, %never)"),
                HasSubstr("length must be 1..1000000, got 0"));
    EXPECT_THAT(refusal("@f (Produce, " + one + ", " + one + ", @work, %a)"),
                HasSubstr("%a is no constant"));
    EXPECT_THAT(refusal("@f (Produce, %less : tensor<2xi32>, " + one + ", @work, %ten)"),
                HasSubstr("numbers from 0 on"));
    EXPECT_THAT(refusal("@f (Produce, %none : tensor<0xi32>, " + one + ", @work, %ten)"),
                HasSubstr("1..1000000 numbers, got tensor<0xi32>"));
    EXPECT_THAT(refusal("@f (Produce, " + one + ", %some : tensor<4xi32>, @work, %ten)"),
                HasSubstr("10 acquires and 4 releases do not fit"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::syntax
