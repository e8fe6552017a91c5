#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/npu/shipped_config_testing.hpp"
#include "workloads/npu/mlir/design/design.hpp"

namespace tilesim::workloads::npu::mlir::core {

using design::Design;
using design::lower;
using design::parse_design;

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// A core that puts on its stream and gets from it, with a buffer @x of 64 words and one of rows.
Design read(const std::string& body, const ReadOptions& options = {}) {
    const auto source = parse_design(
        "aie.device(npu1) { %t = aie.tile(0, 2) %o = aie.tile(0, 3)\n"
        "aie.flow(%t, Core : 0, %o, Core : 0) aie.flow(%o, Core : 0, %t, Core : 0)\n"
        "%x = aie.buffer(%t) {sym_name = \"x\"} : memref<64xi32>\n"
        "%rows = aie.buffer(%t) {sym_name = \"rows\"} : memref<4x16xi32>\n"
        "%a = aie.lock(%t, 0) "
        "aie.objectfifo @f(%t, {%o}, 3 : i32) : !aie.objectfifo<memref<64xi32>>\n"
        "func.func private @fill(memref<64xi32>)\n"
        "aie.core(%t) { %p = arith.constant 0 : i32\n"
        "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c2 = arith.constant 2 : "
        "index\n"
        "%c3 = arith.constant 3 : index %c5 = arith.constant 5 : index %c64 = arith.constant 64 : "
        "index\n" +
            body + " aie.end } }",
        "d.mlir");
    static const NpuConfig kConfig = arch::npu::shipped_config("xdna");
    return lower(source, options, kConfig);
}

const program::CoreProgram& core_of(const Design& design) {
    return design.program.cores.at(0);
}
// The first operation of a kind, in whichever loop.
template <class Op>
const Op* first(const std::vector<program::CoreOp>& script) {
    for (const program::CoreOp& op : script) {
        if (const auto* found = std::get_if<Op>(&op.op)) {
            return found;
        }
        if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            if (const Op* inside = first<Op>(loop->body)) {
                return inside;
            }
        }
    }
    return nullptr;
}
const program::Rotation& walk_of(const program::CoreProgram& core,
                                 const program::WordPlace& place) {
    return core.rotations.at(static_cast<std::size_t>(place.operand.value()));
}

constexpr const char* kPut =
    "%w = memref.load %x[%i] : memref<64xi32>\n"
    "aie.put_stream(%p : i32, %w : i32)\n";

TEST(CoreWords, ACountersWordsAreAWalkThroughTheirBuffer) {
    const Design design = read(fmt::format("scf.for %i = %c3 to %c64 step %c2 {{ {} }}", kPut));
    const auto* put = first<program::PutStreamOp>(core_of(design).script);
    const program::Rotation& walk = walk_of(core_of(design), put->place);
    EXPECT_TRUE(put->place.advance);
    EXPECT_EQ(walk.length, 1);
    EXPECT_EQ(walk.offset, 3);
    EXPECT_EQ(walk.dimensions, (std::vector<program::Dimension>{{31, 2}}));
    EXPECT_THAT(design.notes, Not(Contains(HasSubstr("zeros travel"))));
}

TEST(CoreWords, NestedLoopsAreItsDimensionsAndLoopsItDoesNotChangeWithAreNone) {
    const Design design = read(
        "scf.for %r = %c0 to %c5 step %c1 { scf.for %i = %c1 to %c3 step %c1 {\n"
        "scf.for %j = %c0 to %c5 step %c1 { scf.for %k = %c0 to %c2 step %c1 {\n"
        "%w = memref.load %rows[%i, %j] : memref<4x16xi32>\n"
        "aie.put_stream(%p : i32, %w : i32) } } } }");
    const auto* put = first<program::PutStreamOp>(core_of(design).script);
    const program::Rotation& walk = walk_of(core_of(design), put->place);
    EXPECT_EQ(walk.offset, 16);
    EXPECT_EQ(walk.dimensions, (std::vector<program::Dimension>{{2, 0}, {5, 1}, {2, 16}}));
}

TEST(CoreWords, APlaceMayBeWorkedOutFromCounters) {
    const Design design = read(
        "scf.for %i = %c0 to %c5 step %c1 { %s = arith.muli %i, %c3 : index\n"
        "%at = arith.addi %s, %c2 : index %w = memref.load %x[%at] : memref<64xi32>\n"
        "aie.put_stream(%p : i32, %w : i32) }");
    const program::Rotation& walk =
        walk_of(core_of(design), first<program::PutStreamOp>(core_of(design).script)->place);
    EXPECT_EQ(walk.offset, 2);
    EXPECT_EQ(walk.dimensions, (std::vector<program::Dimension>{{5, 3}}));
}

TEST(CoreWords, AnElementIsWhatTheAcquireGivesOrAViewOfItShows) {
    const std::string take = "aie.objectfifo.acquire @f(Produce, 2) : ";
    const std::string given = "%e, %g = " + take + "memref<64xi32>, memref<64xi32>\n";
    const std::string viewed =
        "%v = " + take +
        "!aie.objectfifosubview<memref<64xi32>>\n%g = "
        "aie.objectfifo.subview.access %v[1] : !aie.objectfifosubview<memref<64xi32>> -> "
        "memref<64xi32>\n";
    for (const std::string& form : {given, viewed}) {
        const Design design = read(form +
                                   "%w = memref.load %g[%c0] : memref<64xi32>\n"
                                   "aie.put_stream(%p : i32, %w : i32)\n"
                                   "aie.objectfifo.release @f(Produce, 2)\n");
        const auto* put = first<program::PutStreamOp>(core_of(design).script);
        ASSERT_TRUE(put != nullptr && put->place.operand) << form;
        const auto buffer = walk_of(core_of(design), put->place).buffers.at(0);
        EXPECT_EQ(design.program.buffers.at(static_cast<std::size_t>(buffer)).name, "f_buff_1");
    }
}

TEST(CoreWords, KnownWordsTravelAndWordsGotArePutAgain) {
    const Design design = read(
        "%seven = arith.constant -7 : i32 aie.put_stream(%p : i32, %seven : i32)\n"
        "%g = aie.get_stream(%p : i32) : i32 aie.put_stream(%p : i32, %g : i32)");
    const auto& script = core_of(design).script;
    EXPECT_EQ(std::get<program::PutStreamOp>(script.at(0).op).place.value, 0xFFFFFFF9);
    const auto kept = std::get<program::GetStreamOp>(script.at(1).op).place.in_register;
    EXPECT_TRUE(kept.has_value());
    EXPECT_EQ(std::get<program::PutStreamOp>(script.at(2).op).place.in_register, kept);
    EXPECT_THAT(design.notes, Not(Contains(HasSubstr("zeros travel"))));
}

TEST(CoreWords, WhatIsGotGoesWhereItIsStored) {
    const Design design = read(
        "scf.for %i = %c0 to %c64 step %c1 { %g = aie.get_stream(%p : i32) : i32\n"
        "memref.store %g, %x[%i] : memref<64xi32> }");
    const auto* get = first<program::GetStreamOp>(core_of(design).script);
    EXPECT_EQ(walk_of(core_of(design), get->place).dimensions,
              (std::vector<program::Dimension>{{64, 1}}));
    EXPECT_TRUE(get->place.advance);
}

TEST(CoreWords, WhatIsComputedIsNamed) {
    const auto notes = [](const std::string& body) { return read(body).notes; };
    EXPECT_THAT(notes("%w = memref.load %x[%c0] : memref<64xi32> %v = arith.addi %w, %p : i32\n"
                      "aie.put_stream(%p : i32, %v : i32)"),
                Contains(HasSubstr("core 0,2: zeros travel in place of what aie.put_stream at "
                                   "line 11 puts, the result of arith.addi")));
    EXPECT_THAT(notes("%w = memref.load %x[%c0] : memref<64xi32>\n"
                      "aie.use_lock(%a, AcquireGreaterEqual, 1)\n"
                      "aie.put_stream(%p : i32, %w : i32)"),
                Contains(HasSubstr("before what its core does in between")));
    EXPECT_THAT(notes("%g = aie.get_stream(%p : i32) : i32\n"
                      "aie.use_lock(%a, AcquireGreaterEqual, 1)\n"
                      "memref.store %g, %x[%c0] : memref<64xi32>"),
                Contains(HasSubstr("stores of what it got is lost")));
    EXPECT_THAT(notes("%g = aie.get_stream(%p : i32) : i32 %v = arith.addi %g, %p : i32\n"
                      "memref.store %v, %x[%c0] : memref<64xi32>"),
                Contains(HasSubstr("what aie.get_stream at line 10 gets goes into arith.addi at "
                                   "line 10, which is not computed")));
    EXPECT_THAT(notes(fmt::format("func.call @fill(%x) : (memref<64xi32>) -> ()\n"
                                  "scf.for %i = %c0 to %c64 step %c1 {{ {} }}",
                                  kPut)),
                Contains(HasSubstr("puts words of x as its buffer holds them: what @fill at "
                                   "line 10 makes of them is not computed")));
}

// Runs that differ are laid out apart, and a walk would not know in which of them it is.
TEST(CoreWords, AWalkThatWouldNotMeetItsLoopsIsTakenBack) {
    const Design design = read(
        fmt::format("%even = arith.constant 0 : i32 %one = arith.constant 1 : i32\n"
                    "scf.for %i = %c0 to %c64 step %c1 iter_args(%n = %even) -> (i32) {{\n"
                    "%next = arith.subi %one, %n : i32 %which = arith.cmpi eq, %n, %one : i32\n"
                    "scf.if %which {{ aie.use_lock(%a, Release, 1) }}\n{}"
                    "scf.yield %next : i32 }}",
                    kPut));
    EXPECT_FALSE(first<program::PutStreamOp>(core_of(design).script)->place.operand);
    EXPECT_THAT(design.notes, Contains(HasSubstr("in loops whose runs differ")));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::core
