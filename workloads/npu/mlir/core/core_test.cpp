// Cores of designs as scripts, and what their calls cost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/npu/check/program_verifier.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::core {

using design::Design;
using design::error_of;
using design::kSmallDesign;
using design::read;

namespace {

using testing::HasSubstr;

TEST(Design, ACoreBecomesAScript) {
    const program::Program program =
        read(std::string{kSmallDesign} +
             "func.func private @k()\n"
             "aie.core(%c) { %0 = arith.constant 0 : index\n"
             "%n = arith.constant 6 : index %1 = arith.constant 1 : index\n"
             "scf.for %i = %0 to %n step %1 {\n"
             "aie.use_lock(%l, Acquire, 1) func.call @k() : () -> ()\n"
             "scf.for %j = %0 to %n step %1 {\n"
             "%v = memref.load %x[%j] : memref<16xi32>\n"
             "%w = arith.addi %v, %v : i32\n"
             "memref.store %w, %x[%j] : memref<16xi32> }\n"
             "aie.use_lock(%l, Release, 1) } aie.end }")
            .program;
    const auto& loop = std::get<program::LoopOp>(program.cores.at(0).script.at(0).op);
    EXPECT_EQ(loop.count, 6);
    ASSERT_EQ(loop.body.size(), 5U);  // acquire, call, work, release, and the loop's own branch
    EXPECT_EQ(std::get<program::AcquireOp>(loop.body[0].op).action.value, 1);
    const auto& work =
        program
            .kernels[static_cast<std::size_t>(std::get<program::CallOp>(loop.body[2].op).kernel)];
    // A run of the inner loop, which is the hardware's: load at 0, add when it is there (7), store
    // at 8, done at 9.
    EXPECT_EQ(work.cycles, 6 * (7 + 1 + 1));
    EXPECT_EQ(work.kind, program::KernelKind::Inline);
}

// Two loops around a store into two dimensions: what closing them costs, and its address.
TEST(Design, ScalarCodeIsOptimisedOrAsWritten) {
    const auto cycles = [](bool optimised, const std::string& in_the_inner_loop) {
        ReadOptions options;
        options.costs.inline_code.optimised = optimised;
        const program::Program program =
            read(std::string{kSmallDesign} +
                     "%z = aie.buffer(%c) {sym_name = \"z\"} : memref<4x3xi32>\n"
                     "aie.core(%c) { %0 = arith.constant 0 : index %1 = arith.constant 1 : index\n"
                     "%n = arith.constant 4 : index %m = arith.constant 3 : index\n"
                     "scf.for %i = %0 to %n step %1 { scf.for %j = %0 to %m step %1 {\n" +
                     in_the_inner_loop +
                     "memref.store %v, %z[%i, %j] : memref<4x3xi32> } }\n"
                     "aie.use_lock(%l, Release, 1) aie.end }",
                 options)
                .program;
        const auto& call = std::get<program::CallOp>(program.cores.at(0).script.at(0).op);
        return program.kernels[static_cast<std::size_t>(call.kernel)].cycles.value();
    };
    const std::string constant = "%v = arith.constant 7 : i32\n";
    // A loop around another is none of the hardware's: its runs pay a branch.
    EXPECT_EQ(cycles(true, constant), 4 * (3 * 1 + 6));
    // A run: multiply (2), sum, scale, base, store; test, step, jump back.
    constexpr std::int64_t kClose = 6 + 1 + 6;
    EXPECT_EQ(cycles(false, constant), 4 * (3 * (2 + 3 + 1 + kClose) + kClose));
    // Nor is one with a branch.
    const std::string branch =
        "%v = arith.addi %j, %j : index %b = arith.cmpi eq, %v, %n : index\n"
        "scf.if %b { %t = arith.muli %v, %v : index }\n";
    // Sum, compare, branch, the longer way's product, store: and the loop's own branch.
    EXPECT_EQ(cycles(true, branch), 4 * (3 * (2 + 6 + 1 + 1 + 6) + 6));
}

TEST(Design, TheLoaderEnablesOneCoreAfterTheOtherInTheOrderOfTheTiles) {
    const program::Program program =
        read(
            "%a = aie.tile(0, 2) %b = aie.tile(0, 3) %c = aie.tile(1, 2) %d = aie.tile(1, 3)\n"
            "%l = aie.lock(%a) %m = aie.lock(%b) %n = aie.lock(%d)\n"
            "aie.core(%d) { aie.use_lock(%n, Release, 1) aie.end }\n"
            "aie.core(%b) { aie.use_lock(%m, Release, 1) aie.end }\n"
            "aie.core(%a) { aie.use_lock(%l, Release, 1) aie.end }")
            .program;
    // Register writes of 84 cycles at 600 MHz; the array's clock is 1 GHz. %c has no core.
    ASSERT_EQ(program.cores.size(), 3U);
    EXPECT_EQ(program.cores[2].enabled, 0);
    EXPECT_EQ(program.cores[1].enabled, 140);
    EXPECT_EQ(program.cores[0].enabled, 280);
}

// Of calls, stores, branches and what they hand over, through every structure.
TEST(Design, ValuesOfACoreAreDefinedBeforeTheyAreUsed) {
    const auto error = [](const std::string& body) {
        return error_of(
            std::string{kSmallDesign} +
            "func.func private @k(i32)\n"
            "func.func @inner(%n: i32) { %s = arith.addi %n, %n : i32\n"
            "func.call @k(%s) : (i32) -> () return }\n"
            "aie.core(%c) { %0 = arith.constant 0 : index %1 = arith.constant 1 : index\n"
            "%i1 = arith.constant true\n" +
            body + "\naie.use_lock(%l, Release, 1) aie.end }");
    };
    const auto undefined = [](const std::string& name) {
        return HasSubstr("%" + name + " is not defined before this");
    };
    EXPECT_THAT(error("func.call @k(%none) : (i32) -> ()"), undefined("none"));
    EXPECT_THAT(error("memref.store %none, %x[%0] : memref<16xi32>"), undefined("none"));
    EXPECT_THAT(error("%a = arith.addi %d, %d : i32 %d = arith.constant 1 : i32"), undefined("d"));
    EXPECT_THAT(error("scf.if %none { }"), undefined("none"));
    EXPECT_THAT(error("%r = scf.if %i1 -> (i32) { scf.yield %none : i32 } else { "
                      "%t = arith.constant 1 : i32 scf.yield %t : i32 }"),
                undefined("none"));
    // What a region defines ends with it, and so does what one of two ways defines.
    EXPECT_THAT(error("scf.for %i = %0 to %1 step %1 { } %a = arith.addi %i, %i : index"),
                undefined("i"));
    EXPECT_THAT(error("cf.cond_br %i1, ^a, ^b\n^a: %v = arith.constant 1 : i32 cf.br ^b\n"
                      "^b: func.call @k(%v) : (i32) -> ()"),
                undefined("v"));
    // What all ways pass is there, and so are arguments, %r#1 of %r:2 and what the device has.
    EXPECT_EQ(error("%v = arith.constant 1 : i32 cf.cond_br %i1, ^a, ^b\n^a: cf.br ^b\n"
                    "^b: func.call @k(%v) : (i32) -> () func.call @inner(%v) : (i32) -> ()\n"
                    "%r:2 = func.call @k2(%x) : (memref<16xi32>) -> (i32, i32)\n"
                    "func.call @k(%r#1) : (i32) -> ()"),
              "");
}

TEST(Design, EndlessAndUnrolledControlFlow) {
    const auto script = [](const std::string& body) {
        return read(std::string{kSmallDesign} + "aie.core(%c) {" + body + "}")
            .program.cores.at(0)
            .script;
    };
    const auto endless =
        script("cf.br ^a\n^a: aie.use_lock(%l, Acquire, 1) aie.use_lock(%l, Release, 1) cf.br ^a");
    EXPECT_EQ(std::get<program::LoopOp>(endless.back().op).count, -1);
    // A bound that is the outer variable: unrolled, 0 + 1 + 2 acquires.
    const auto triangle = script(
        "%0 = arith.constant 0 : index %3 = arith.constant 3 : index %1 = arith.constant 1 : "
        "index scf.for %i = %0 to %3 step %1 { scf.for %j = %0 to %i step %1 { "
        "aie.use_lock(%l, Acquire, 1) } } aie.end");
    std::int64_t acquires = 0;
    for (const program::CoreOp& op : triangle) {
        if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            acquires += loop->count;
        }
    }
    EXPECT_EQ(acquires, 3);
    EXPECT_THAT(error_of(std::string{kSmallDesign} +
                         "aie.core(%c) { %y = arith.constant 3 : index "
                         "%v = memref.load %x[%y] : memref<16xi32>\n"
                         "scf.if %v { aie.use_lock(%l, Acquire, 1) } aie.end }"),
                HasSubstr("d.mlir:8:1: which way this branch goes depends on data"));
    EXPECT_THAT(error_of(std::string{kSmallDesign} +
                         "aie.core(%c) { aie.use_lock(%l, Acquire, 1)\n^a: aie.end }"),
                HasSubstr("d.mlir:7:16: this block ends without a branch, and others follow it"));
}

TEST(Design, ACoreUsesWhatItReaches) {
    const std::string north = std::string{kSmallDesign} +
                              "func.func private @k(memref<16xi32>)\n"
                              "%n = aie.tile(0, 3) %y = aie.buffer(%n) : memref<16xi32>\n"
                              "%f = aie.tile(0, 4) %z = aie.buffer(%f) : memref<16xi32>\n";
    const auto error = [&](const std::string& body) {
        return error_of(north + "aie.core(%c) { %0 = arith.constant 0 : index\n" + body +
                        "\naie.end }");
    };
    const auto call = [&](const std::string& buffer) {
        return error("func.call @k(" + buffer + ") : (memref<16xi32>) -> ()");
    };
    EXPECT_EQ(call("%x") + call("%y"), "");
    EXPECT_THAT(call("%z"), HasSubstr("the core of tile 0,2 does not reach buffer"));
    EXPECT_THAT(call("%b"), HasSubstr("of tile 0,1"));
    EXPECT_THAT(error("%v = memref.load %z[%0] : memref<16xi32>"), HasSubstr("of tile 0,4"));
    EXPECT_THAT(error_of(north + "aie.core(%c) { aie.end }\naie.core(%c) { aie.end }"),
                HasSubstr("d.mlir:11:1: tile 0,2 has a core already"));
}

TEST(Design, KernelCostsAreStatedOrEstimated) {
    const std::string body = std::string{kSmallDesign} +
                             "func.func private @k(memref<16xi32>)\n"
                             "aie.core(%c) { func.call @k(%x) : (memref<16xi32>) -> () aie.end }";
    const Design estimated = read(body);
    EXPECT_EQ(estimated.program.kernels.at(0).cycles, 1);  // 64 B through two ports of 32 B
    EXPECT_THAT(estimated.notes, testing::Contains(HasSubstr("no cost is stated")));
    ReadOptions options;
    options.costs.kernels["k"] = 77;
    EXPECT_EQ(read(body, options).program.kernels.at(0).cycles, 77);
}

TEST(Design, FunctionsWhoseCodeIsMarkedAreThoseThatAreNamed) {
    const std::string body = std::string{kSmallDesign} +
                             "func.func private @k(memref<16xi32>) func.func private @m()\n"
                             "aie.core(%c) { func.call @k(%x) : (memref<16xi32>) -> ()\n"
                             "func.call @m() : () -> () aie.end }";
    const auto marked = [&](const ReadOptions& options) {
        std::vector<bool> of;
        for (const program::Kernel& kernel : read(body, options).program.kernels) {
            of.push_back(kernel.marked);
        }
        return of;
    };
    ReadOptions options;
    EXPECT_EQ(marked(options), (std::vector<bool>{true, true}));
    options.costs.marked = {"m"};
    EXPECT_EQ(marked(options), (std::vector<bool>{false, true}));
    options.costs.marked = {"mm"};
    EXPECT_THAT(error_of(body, options), HasSubstr("no function is named @mm; did you mean @"));
}

TEST(Design, BodylessCoresFollowTheirLocks) {
    const std::string body =
        std::string{kSmallDesign} +
        "%f = aie.lock(%c, 1) {init = 1 : i32}\n"
        "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n"
        "^a: aie.use_lock(%f, AcquireGreaterEqual, 1) aie.dma_bd(%x : memref<16xi32>) "
        "aie.use_lock(%l, Release, 1) aie.next_bd ^a\n^e: aie.end }";
    // Without a sequence and without a core, the host serves these locks.
    EXPECT_TRUE(read(body).program.cores.empty());
    // A core in a file of its own: it reads 64 B once, through two ports of 32 B.
    const Design assumed = read(body + "aie.core(%c) { aie.end } {elf_file = \"c.elf\"}");
    ASSERT_EQ(assumed.program.cores.size(), 1U);
    EXPECT_EQ(assumed.program.kernels.at(0).cycles, 1);
    EXPECT_THAT(assumed.notes, testing::Contains(HasSubstr("assumed: it takes a block of every")));
    // One that does nothing has a body all the same.
    EXPECT_TRUE(read(body + "aie.core(%c) { %0 = arith.constant 0 : index scf.for %i = %0 to %0 "
                            "step %0 { aie.use_lock(%l, AcquireGreaterEqual, 1) } aie.end }")
                    .program.cores.empty());
    // Where other tiles have cores, one without has none: its channels wait.
    const std::string elsewhere =
        "%d = aie.tile(0, 3) aie.core(%d) { aie.end }\n"
        "aie.runtime_sequence() {}\n";
    const Design none = read(body + elsewhere);
    EXPECT_EQ(none.program.cores.size(),
              read(std::string{kSmallDesign} + elsewhere).program.cores.size());
    EXPECT_THAT(none.notes, testing::Contains(HasSubstr("tile 0,2 has no core, as others have")));
    EXPECT_EQ(read(body + "aie.runtime_sequence() {}\n").program.cores.size(), 1U);
    ReadOptions options;
    options.costs.default_core = BodylessCore{50, 3};
    const program::Program program = read(body, options).program;
    const auto& loop = std::get<program::LoopOp>(program.cores.at(0).script[0].op);
    EXPECT_EQ(loop.body.size(), 9U);  // three times: take, work, give
}

// As designs do whose kernels name locks by their numbers.
TEST(Design, ACoreMayLeaveItsChannelsLocksToFunctions) {
    const auto with = [](const std::string& function, const std::string& core) {
        return read(std::string{kSmallDesign} +
                    "%f = aie.lock(%c, 1) {init = 1 : i32}\n"
                    "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n"
                    "^a: aie.use_lock(%f, AcquireGreaterEqual, 1) aie.dma_bd(%x : memref<16xi32>) "
                    "aie.use_lock(%l, Release, 1) aie.next_bd ^a\n^e: aie.end }\n" +
                    function + "aie.core(%c) { " + core +
                    "func.call @k(%x) : (memref<16xi32>) -> () aie.end }\n"
                    "aie.runtime_sequence() {}\n");
    };
    const std::string elsewhere = "func.func private @k(memref<16xi32>)\n";
    const Design left = with(elsewhere, "");
    ASSERT_EQ(left.program.cores.size(), 1U);
    const auto& loop = std::get<program::LoopOp>(left.program.cores[0].script.at(0).op);
    EXPECT_EQ(loop.count, -1);
    EXPECT_TRUE(std::holds_alternative<program::AcquireOp>(loop.body.at(0).op));
    EXPECT_THAT(left.notes, testing::Contains(HasSubstr("left to the functions it calls")));
    const auto keeps_its_own = [](const Design& design) {
        return design.program.cores.size() == 1 &&
               !std::holds_alternative<program::LoopOp>(design.program.cores[0].script.at(0).op);
    };
    EXPECT_TRUE(keeps_its_own(with(elsewhere, "aie.use_lock(%l, AcquireGreaterEqual, 1) ")));
    EXPECT_TRUE(keeps_its_own(with(
        "func.func @k(%m: memref<16xi32>) { aie.use_lock(%l, AcquireGreaterEqual, 1) return }\n",
        "")));
}

TEST(Design, BodylessCoresOfASequenceThatSetsTheArrayUpFollowWhatItStarts) {
    // Descriptor 3 of the core's memory receives 16 words: takes lock 1, gives lock 0.
    const auto write = [](std::int64_t offset, std::uint32_t value) {
        return fmt::format("aiex.npu.write32 {{address = {} : ui32, value = {} : ui32}}\n",
                           0x200000 + offset, value);
    };
    const std::string descriptor =
        write(0x1D060, 16) + write(0x1D064, 0) + write(0x1D068, 0) + write(0x1D06C, 0) +
        write(0x1D070, 0) +
        write(0x1D074, 1U << 25 | 1U << 18 | 1U << 12 | 0x7FU << 5 | 1U | 3U << 27 | 1U << 26);
    const std::string body =
        std::string{kSmallDesign} + "%f = aie.lock(%c, 1)\naie.runtime_sequence() {\n" +
        write(0x1F000, 0) + write(0x1F010, 1) + descriptor + write(0x1DE04, 3) + "}";
    const Design design = read(body);
    const program::Program& program = design.program;
    ASSERT_EQ(program.cores.size(), 1U);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("tile 0,2 has no core in this file")));
    const auto& loop = std::get<program::LoopOp>(program.cores[0].script[0].op);
    ASSERT_EQ(loop.body.size(), 3U);  // takes lock 0, works, gives lock 1
    const auto lock = [&program](std::int64_t index) {
        return program.locks.at(static_cast<std::size_t>(index)).id;
    };
    EXPECT_EQ(lock(std::get<program::AcquireOp>(loop.body[0].op).action.lock), 0);
    EXPECT_EQ(lock(std::get<program::ReleaseOp>(loop.body[2].op).action.lock), 1);
    // Nothing is started: no core's locks are asked for.
    EXPECT_TRUE(read(std::string{kSmallDesign} +
                     "%f = aie.lock(%c, 1)\naie.runtime_sequence() {\n" + write(0x1F010, 1) +
                     descriptor + "}")
                    .program.cores.empty());
}

// A core that takes %n blocks a result, %n from an array of parameters: do-while from 1.
TEST(Design, ALoopToAWordOfAParameterArrayCountsFromItsOwnFirst) {
    const std::string core =
        "%w = aie.buffer(%c) {sym_name = \"words\"} : memref<3xi32>\n"
        "func.func private @k()\n"
        "aie.core(%c) { %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index\n"
        "%big = arith.constant 4294967295 : index\n"
        "scf.for %i = %c0 to %big step %c1 {\n"
        "scf.while (%r = %c1) : (index) -> index { func.call @k() : () -> ()\n"
        "%n = memref.load %w[%i] : memref<3xi32> %m = arith.index_cast %n : i32 to index\n"
        "%next = arith.addi %r, %c1 : index %more = arith.cmpi slt, %r, %m : index\n"
        "scf.condition(%more) %next : index } do { ^bb0(%s: index): scf.yield %s : index }\n"
        "aie.use_lock(%l, Release, 1) } aie.end }\n";
    ReadOptions options;
    options.costs.kernels = {{"k", 100}};
    const Design design = read(std::string{kSmallDesign} + core +
                                   "aie.runtime_sequence() { aiex.npu.rtp_write(@words, 0, 7)\n"
                                   "aiex.npu.rtp_write(@words, 1, 1) }",
                               options);
    // The word, and beside it how often the loop goes round again: 7 - 1, 1 - 1.
    std::vector<std::int64_t> written;
    for (const program::SequenceOp& each : design.program.sequence) {
        written.push_back(std::get<program::WriteParameter>(each).value);
    }
    EXPECT_EQ(written, (std::vector<std::int64_t>{7, 6, 1, 0}));
    std::vector<std::int64_t> counted;  // parameters of the loops; -1: a constant
    for (const program::CoreOp& each : design.program.cores.at(0).script) {
        if (const auto* loop = std::get_if<program::LoopOp>(&each.op)) {
            counted.push_back(loop->parameter.value_or(-1));
            EXPECT_TRUE(loop->parameter || loop->count == 0);
        }
    }
    EXPECT_EQ(counted, (std::vector<std::int64_t>{1, 3, -1}));  // word 2 is never written
    EXPECT_THAT(design.notes, testing::IsSupersetOf(
                                  {HasSubstr("a core is taken to end before run 4 of its loop"),
                                   HasSubstr("that the sequence never writes are taken as 0")}));
    // The first run comes before the parameter is read: the core may wait for data in it.
    EXPECT_TRUE(std::holds_alternative<program::CallOp>(design.program.cores[0].script[0].op));
}

// Words of a parameter array whose contents the design states: one that the sequence writes begins
// with its own, another keeps it.
TEST(Design, AParameterBeginsWithWhatItsBufferHolds) {
    const auto design = [](const std::string& sequence) {
        return read(
            std::string{kSmallDesign} +
            "%w = aie.buffer(%c) {sym_name = \"words\"} : memref<4xi32> = dense<[3, -1, 5, "
            "9]>\n"
            "aie.core(%c) { %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index\n"
            "%c2 = arith.constant 2 : index\n"
            "%n = memref.load %w[%c0] : memref<4xi32> %m = arith.index_cast %n : i32 to index\n"
            "scf.for %i = %c0 to %m step %c1 { aie.use_lock(%l, Release, 1) }\n"
            "%o = memref.load %w[%c2] : memref<4xi32> %q2 = arith.index_cast %o : i32 to index\n"
            "scf.for %i = %c0 to %q2 step %c1 { aie.use_lock(%l, Release, 1) } aie.end }\n"
            "aie.runtime_sequence() { " +
            sequence + " }");
    };
    const auto loops = [](const Design& lowered) {
        std::vector<std::pair<std::int64_t, std::int64_t>> counts;  // parameter or -1, runs
        for (const program::CoreOp& each : lowered.program.cores.at(0).script) {
            if (const auto* loop = std::get_if<program::LoopOp>(&each.op)) {
                counts.emplace_back(loop->parameter.value_or(-1),
                                    loop->parameter ? 0 : loop->count);
            }
        }
        return counts;
    };
    using Loops = std::vector<std::pair<std::int64_t, std::int64_t>>;
    const Design written = design("aiex.npu.rtp_write(@words, 0, 7)");
    EXPECT_EQ(loops(written), (Loops{{0, 0}, {-1, 5}}));
    EXPECT_EQ(written.program.cores[0].parameters, (std::vector<std::int64_t>{3}));
    const Design kept = design("");
    EXPECT_EQ(loops(kept), (Loops{{-1, 3}, {-1, 5}}));
    EXPECT_TRUE(kept.program.cores[0].parameters.empty());
    EXPECT_THAT(kept.notes, testing::Not(testing::Contains(HasSubstr("are taken as 0"))));
    // What a DMA puts there later is data, which decides nothing here.
    const Design moved = design(
        "} aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n^a: "
        "aie.dma_bd(%w : memref<4xi32>) aie.next_bd ^a\n^e: aie.end");
    EXPECT_EQ(loops(moved), (Loops{{0, 0}, {1, 0}}));
}

// A load is used 7 cycles after it issues; so it is in a function that stands in its place,
// whatever the function calls what it is given.
TEST(Design, WhatAFunctionIsGivenIsReadyWhenItsCallerHasIt) {
    const auto cycles = [](const std::string& names) {
        const program::Program program =
            read(
                "%t = aie.tile(0, 2) %l = aie.lock(%t, 0) %x = aie.buffer(%t) : memref<16xi32>\n"
                "%c0 = arith.constant 0 : index\n"
                "func.func private @keep(" +
                names +
                ") {\n"
                "memref.store %b, %m[%c0] : memref<16xi32>\nreturn\n}\n"
                "aie.core(%t) {\n%a = memref.load %x[%c0] : memref<16xi32>\n"
                "func.call @keep(%a, %x) : (i32, memref<16xi32>) -> ()\n"
                "aie.use_lock(%l, Release, 1)\naie.end\n}")
                .program;
        const auto& call = std::get<program::CallOp>(program.cores.at(0).script.at(0).op);
        return *program.kernels.at(static_cast<std::size_t>(call.kernel)).cycles;
    };
    EXPECT_EQ(cycles("%b: i32, %m: memref<16xi32>"), 8);  // the load issues at 0, the store at 7
}

// An input's lock is the one a channel releases, an output's the one it acquires.
TEST(Design, AKernelThatIsGivenLocksTakesAndGivesWhatChannelsGiveAndTake) {
    const std::string tiles =
        "%s = aie.tile(0, 0) %c = aie.tile(0, 2) %x = aie.buffer(%c) : memref<16xi32>\n"
        "%p = aie.lock(%c, 0) {init = 1 : i32} %f = aie.lock(%c, 1) %own = aie.lock(%c, 2)\n"
        "func.func private @k(memref<16xi32>, index, index, index)\n"
        "aie.flow(%s, DMA : 0, %c, DMA : 0)\n"
        "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n^a: "
        "aie.use_lock(%p, AcquireGreaterEqual, 1) aie.dma_bd(%x : memref<16xi32>) "
        "aie.use_lock(%f, Release, 3) aie.next_bd ^a\n^e: aie.end }\n";
    const std::string call =
        "func.call @k(%x, %f, %p, %own) : (memref<16xi32>, index, index, index) -> ()\n";
    const Design design = read(tiles + "aie.core(%c) { " + call + "aie.end }");
    const auto& script = design.program.cores.at(0).script;
    ASSERT_EQ(script.size(), 3U);  // %own is nobody's
    EXPECT_EQ(std::get<program::AcquireOp>(script[0].op).action.lock, 1);
    EXPECT_EQ(std::get<program::AcquireOp>(script[0].op).action.value, -3);
    EXPECT_EQ(std::get<program::ReleaseOp>(script[2].op).action.lock, 0);
    EXPECT_EQ(std::get<program::ReleaseOp>(script[2].op).action.value, 1);
    // A core may acquire at 0.
    const Design at_zero = read(tiles + "aie.core(%c) { aie.use_lock(%own, Acquire, 0) aie.end }");
    EXPECT_EQ(at_zero.program.cores.at(0).script.size(), 1U);
    // What the body does itself the kernel does not do again.
    const Design both = read(tiles + "aie.core(%c) { aie.use_lock(%f, AcquireGreaterEqual, 3)\n" +
                             call + "aie.end }");
    ASSERT_EQ(both.program.cores.at(0).script.size(), 3U);
    EXPECT_TRUE(std::holds_alternative<program::CallOp>(both.program.cores[0].script[1].op));
}

// %acquired, %released of each end; the loop from element to element is in the kernel.
TEST(Design, AKernelMayServeItsEndsOfObjectFifosItself) {
    const std::string fifos =
        "%s = aie.tile(0, 0) %c = aie.tile(0, 2)\n"
        "aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>\n"
        "func.func private @k(memref<16xi32>, memref<16xi32>, index, index, index, index)\n";
    const auto body = [&](const std::string& before, const std::string& behind) {
        return read(fifos +
                    "aie.core(%c) { %c0 = arith.constant 0 : index %c3 = arith.constant 3 : index "
                    "%c1 = arith.constant 1 : index\n"
                    "%x = aie.objectfifo.buffer @in (1) : memref<16xi32>\n"
                    "%y = aie.objectfifo.buffer @out (0) : memref<16xi32>\n"
                    "%ia, %ir = aie.objectfifo.lock @in (Consume) : (index, index)\n"
                    "%oa, %or = aie.objectfifo.lock @out (Produce) : (index, index)\n" +
                    before +
                    "func.call @k(%x, %y, %ia, %ir, %oa, %or) : (memref<16xi32>, memref<16xi32>, "
                    "index, index, index, index) -> ()\n" +
                    behind + "aie.end }")
            .program;
    };
    const auto names = [](const program::Program& p, const program::LoopOp& loop) {
        std::vector<std::string> used;
        for (const program::CoreOp& each : loop.body) {
            if (const auto* acquire = std::get_if<program::AcquireOp>(&each.op)) {
                used.push_back(p.locks[static_cast<std::size_t>(acquire->action.lock)].name);
            } else if (const auto* release = std::get_if<program::ReleaseOp>(&each.op)) {
                used.push_back(p.locks[static_cast<std::size_t>(release->action.lock)].name);
            }
        }
        return used;
    };
    const program::Program p = body("", "");
    ASSERT_EQ(p.cores.at(0).script.size(), 1U);
    const auto& loop = std::get<program::LoopOp>(p.cores[0].script[0].op);
    EXPECT_EQ(loop.count, -1);
    EXPECT_EQ(names(p, loop), (std::vector<std::string>{"in_cons_cons_lock_0", "out_prod_lock_0",
                                                        "in_cons_prod_lock_0", "out_cons_lock_0"}));
    EXPECT_EQ(p.buffers.size(), 4U);
    // A loop that stands there counts the elements.
    const program::Program counted = body("scf.for %i = %c0 to %c3 step %c1 {\n", "}\n");
    EXPECT_EQ(std::get<program::LoopOp>(counted.cores.at(0).script.at(0).op).count, 3);
    EXPECT_THAT(error_of(fifos + "aie.core(%c) { %x = aie.objectfifo.buffer @in (2) : "
                                 "memref<16xi32> aie.end }"),
                HasSubstr("the buffers of @in are 0..1"));
    EXPECT_THAT(error_of(fifos + "aie.core(%c) { %a, %r = aie.objectfifo.lock @in (Produce) : "
                                 "(index, index) aie.end }"),
                HasSubstr("this core is no such end of @in"));
}

TEST(Design, EventsAndDebuggingAreAnInstructionEach) {
    const auto cycles = [](const std::string& body) {
        const Design design = read(
            "%t = aie.tile(0, 2) %l = aie.lock(%t, 0)\n"
            "aie.core(%t) { aie.use_lock(%l, AcquireGreaterEqual, 1)\n" +
            body + " aie.use_lock(%l, Release, 1) aie.end }");
        const auto& call = std::get<program::CallOp>(design.program.cores.at(0).script.at(1).op);
        return design.program.kernels.at(static_cast<std::size_t>(call.kernel)).cycles;
    };
    EXPECT_EQ(cycles("aie.event(0)"), 1);
    EXPECT_EQ(cycles("%x = arith.constant 7 : i32 aie.event(0) aie.debug(%x : i32)"), 2);
}

TEST(Design, ACallThroughAConstantIsACallOfItsFunction) {
    const auto cycles = [](const std::string& call) {
        return read(
                   "%t = aie.tile(0, 2) %l = aie.lock(%t, 0)\nfunc.func private @f()\n"
                   "aie.core(%t) {\n%p = func.constant @f : () -> ()\n" +
                   call + " : () -> ()\naie.use_lock(%l, Release, 1)\naie.end\n}")
            .program.cores.at(0)
            .script.size();
    };
    EXPECT_EQ(cycles("func.call_indirect %p()"), cycles("func.call @f()"));
    EXPECT_THAT(error_of("%t = aie.tile(0, 2)\naie.core(%t) {\n"
                         "%q = func.call @pick() : () -> (() -> ())\n"
                         "func.call_indirect %q() : () -> ()\naie.end\n}"),
                HasSubstr("which function this calls"));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::core
