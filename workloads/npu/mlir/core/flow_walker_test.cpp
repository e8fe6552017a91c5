#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "arch/base/config.hpp"
#include "arch/npu/program/program_print.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/control_flow/loop_count.hpp"
#include "workloads/npu/mlir/design/design.hpp"

namespace tilesim::workloads::npu::mlir::core {

using control_flow::ControlFlow;
using control_flow::times_passed;
using design::lower;
using design::parse_design;

namespace {

using testing::HasSubstr;

constexpr const char* kConstants =
    "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c2 = arith.constant 2 : index "
    "%c3 = arith.constant 3 : index %c5 = arith.constant 5 : index %c64 = arith.constant 64 : "
    "index\n";

const NpuConfig& config() {
    static const NpuConfig kConfig = arch::npu::shipped_config("xdna");
    return kConfig;
}

// The program of one core whose lock %a is taken and %r given; @k costs 100 and @m 3000 cycles.
program::Program read(const std::string& body,
                      const std::map<std::int64_t, std::int64_t>& loops = {}) {
    ReadOptions options;
    options.loops = loops;
    options.costs.kernels = {{"k", 100}, {"m", 3000}};
    const auto source = parse_design(
        fmt::format("aie.device(npu1) {{ %t = aie.tile(0, 2) %x = aie.buffer(%t) : memref<64xi32>\n"
                    "%a = aie.lock(%t, 0) %r = aie.lock(%t, 1)\n"
                    "aie.core(%t) {{ {}{}\n}} }}",
                    kConstants, body),
        "d.mlir");
    return lower(source, options, config()).program;
}
std::string printed(const std::string& body) {
    return arch::npu::program::print(read(body));
}
std::string error_of(const std::string& body) {
    try {
        read(body);
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kTake = "aie.use_lock(%a, AcquireGreaterEqual, 1)\n";
constexpr const char* kGive = "aie.use_lock(%r, Release, 1)\n";

// A structured body and the blocks the compiler makes of it are the same script.
void expect_twins(const std::string& structured, const std::string& blocks) {
    EXPECT_EQ(printed(structured), printed(blocks));
}

TEST(ControlFlow, ALoopOfBlocksIsTheLoopItWas) {
    expect_twins(
        fmt::format("scf.for %i = %c0 to %c5 step %c2 {{ {}{} }} aie.end", kTake, kGive),
        fmt::format("cf.br ^h(%c0 : index)\n^h(%i: index):\n%t0 = arith.cmpi slt, %i, %c5 : index\n"
                    "cf.cond_br %t0, ^b, ^e\n^b:\n{}{}%n = arith.addi %i, %c2 : index\n"
                    "cf.br ^h(%n : index)\n^e:\naie.end",
                    kTake, kGive));
    const auto script =
        read(fmt::format("scf.for %i = %c0 to %c5 step %c2 {{ {}{} }} aie.end", kTake, kGive))
            .cores.at(0)
            .script;
    EXPECT_EQ(std::get<program::LoopOp>(script.at(0).op).count, 3);  // 0, 2, 4
}

TEST(ControlFlow, NestedLoopsAndTheirWork) {
    expect_twins(
        fmt::format("scf.for %i = %c0 to %c3 step %c1 {{ {} scf.for %j = %c0 to %c64 step %c1 {{\n"
                    "%v = memref.load %x[%j] : memref<64xi32>\n"
                    "memref.store %v, %x[%j] : memref<64xi32> }} {} }} aie.end",
                    kTake, kGive),
        fmt::format("cf.br ^h(%c0 : index)\n^h(%i: index):\n%t0 = arith.cmpi slt, %i, %c3 : index\n"
                    "cf.cond_br %t0, ^b, ^e\n^b:\n{}cf.br ^h2(%c0 : index)\n"
                    "^h2(%j: index):\n%t1 = arith.cmpi slt, %j, %c64 : index\n"
                    "cf.cond_br %t1, ^b2, ^l\n^b2:\n%v = memref.load %x[%j] : memref<64xi32>\n"
                    "memref.store %v, %x[%j] : memref<64xi32>\n%n2 = arith.addi %j, %c1 : index\n"
                    "cf.br ^h2(%n2 : index)\n^l:\n{}%n = arith.addi %i, %c1 : index\n"
                    "cf.br ^h(%n : index)\n^e:\naie.end",
                    kTake, kGive));
}

TEST(ControlFlow, BranchesOnDataCostTheirLongerWay) {
    const std::string condition =
        "%v = memref.load %x[%c0] : memref<64xi32>\n%z = arith.constant 0 : i32\n"
        "%q = arith.cmpi sgt, %v, %z : i32\n";
    expect_twins(
        fmt::format("{}{}%w = scf.if %q -> (i32) {{ %p = arith.muli %v, %v : i32\n"
                    "%p2 = arith.muli %p, %v : i32 scf.yield %p2 : i32 }} else {{\n"
                    "scf.yield %v : i32 }}\nmemref.store %w, %x[%c0] : memref<64xi32>\n{}aie.end",
                    kTake, condition, kGive),
        fmt::format("{}{}cf.cond_br %q, ^a, ^b\n^a:\n%p = arith.muli %v, %v : i32\n"
                    "%p2 = arith.muli %p, %v : i32\ncf.br ^j(%p2 : i32)\n^b:\ncf.br ^j(%v : i32)\n"
                    "^j(%w: i32):\nmemref.store %w, %x[%c0] : memref<64xi32>\n{}aie.end",
                    kTake, condition, kGive));
    EXPECT_THAT(error_of(fmt::format("{}{}cf.cond_br %q, ^a, ^j\n^a:\n{}cf.br ^j\n^j:\naie.end",
                                     kTake, condition, kGive)),
                HasSubstr("depends on data, which is not modelled"));
}

TEST(ControlFlow, WaysThatDoTheSameAreOneWhicheverIsTaken) {
    const auto body = [](const std::string& one, const std::string& other) {
        return fmt::format(
            "%v = memref.load %x[%c0] : memref<64xi32>\n%z = arith.constant 0 : i32\n"
            "%q = arith.cmpi sgt, %v, %z : i32\n{}scf.if %q {{ {} }} else {{ {} }}\n{}aie.end",
            kTake, one, other, kGive);
    };
    const std::string call = "func.call @k(%x) : (memref<64xi32>) -> ()\n";
    const std::string work = "%p = arith.muli %v, %v : i32\n%p2 = arith.muli %p, %v : i32\n";
    const std::string taken = call + kGive + kTake;
    const auto script = [&](const std::string& one, const std::string& other) {
        const std::string text = printed(body(one, other));
        return text.substr(text.find("cores:"));
    };
    EXPECT_EQ(script(taken, work + taken), script(work + taken, taken));
    EXPECT_EQ(script(taken, work + taken), script(work + taken, work + taken));
    EXPECT_NE(script(taken, work + taken), script(taken, taken));
    for (const std::string& other :
         {call + kTake + kGive, std::string{kGive} + kTake, taken + kTake}) {
        EXPECT_THAT(error_of(body(taken, other)),
                    HasSubstr("which way this branch goes depends on data, which is not modelled"));
    }
    // Which words would travel depends on the way.
    const std::string put = "aie.put_stream(%z : i32, %v : i32)\n";
    EXPECT_THAT(error_of(body(put, put)), HasSubstr("which way this branch goes depends on data"));
}

// The counter has another name in the part that raises it.
TEST(ControlFlow, AWhileThatCountsIsALoopOfItsRuns) {
    const auto body = [](const std::string& bound) {
        return fmt::format(
            "{}%v = memref.load %x[%c0] : memref<64xi32>\n%w = memref.load %x[%v] : "
            "memref<64xi32>\n"
            "%end = scf.while (%i = %c0) : (index) -> index {{\n"
            "%q = arith.cmpi slt, %i, {} : index\nscf.condition(%q) %i : index }} do {{\n"
            "^bb0(%j: index):\nfunc.call @k(%x) : (memref<64xi32>) -> ()\n"
            "%n = arith.addi %j, %c2 : index\nscf.yield %n : index }}\n{}aie.end",
            kTake, bound, kGive);
    };
    const auto runs = [](const program::Program& program) {
        std::int64_t calls = 0;
        for (const program::CoreOp& op : program.cores.at(0).script) {
            if (const auto* loop = std::get_if<program::LoopOp>(&op.op)) {
                calls += loop->count;
            }
        }
        return calls;
    };
    EXPECT_EQ(runs(read(body("%c64"))), 32);  // 0, 2, ... 62
    const std::string message = error_of(body("%w"));
    EXPECT_THAT(message, HasSubstr("state it as design.loops."));
    const std::int64_t line = std::stoll(message.substr(message.find("design.loops.") + 13));
    EXPECT_EQ(runs(read(body("%w"), {{line, 7}})), 7);
}

TEST(ControlFlow, RunsThatDataDecidesAreStatedByTheirLine) {
    const std::string body = fmt::format(
        "{}%v = memref.load %x[%c0] : memref<64xi32>\n"
        "%w = memref.load %x[%v] : memref<64xi32>\n"
        "scf.for %i = %c0 to %w step %c1 {{ func.call @k(%x) : (memref<64xi32>) -> () "
        "}}\n{}aie.end",
        kTake, kGive);
    EXPECT_THAT(error_of(body), HasSubstr("depends on data, which is not modelled; state it as "
                                          "design.loops."));
    const std::string message = error_of(body);
    const std::int64_t line = std::stoll(message.substr(message.find("design.loops.") + 13));
    const program::Program stated = read(body, {{line, 7}});
    const auto& script = stated.cores.at(0).script;
    const auto loop = std::find_if(script.begin(), script.end(), [](const program::CoreOp& op) {
        return std::holds_alternative<program::LoopOp>(op.op);
    });
    ASSERT_NE(loop, script.end());
    EXPECT_EQ(std::get<program::LoopOp>(loop->op).count, 7);
}

TEST(ControlFlow, AFunctionsConstantResultDecides) {
    const auto script_of = [](const std::string& condition) {
        ReadOptions options;
        options.costs.kernels = {{"k", 100}};
        const auto source = parse_design(
            fmt::format(
                "aie.device(npu1) {{ %t = aie.tile(0, 2) %x = aie.buffer(%t) : memref<64xi32>\n"
                "%r = aie.lock(%t, 1)\n"
                "func.func @ever(%n: i32) -> i1 {{ %y = arith.constant 1 : i1\nreturn %y : i1 }}\n"
                "aie.core(%t) {{ %one = arith.constant 1 : i32\ncf.br ^h\n^h:\n"
                "%c = {}\ncf.cond_br %c, ^b, ^e\n^b:\n"
                "func.call @k(%x) : (memref<64xi32>) -> ()\naie.use_lock(%r, Release, 1)\n"
                "cf.br ^h\n^e:\naie.end\n}} }}",
                condition),
            "d.mlir");
        return arch::npu::program::print(lower(source, options, config()).program);
    };
    EXPECT_EQ(script_of("func.call @ever(%one) : (i32) -> i1"), script_of("arith.constant 1 : i1"));
}

TEST(ControlFlow, WhatIsCarriedIsFollowedUntilItRepeats) {
    // Three buffers in turn: period 3, 7 runs are two rounds and one.
    const auto core =
        read(fmt::format("%seven = arith.constant 7 : index\n"
                         "%last = scf.for %i = %c0 to %seven step %c1 iter_args(%n = %c0) -> "
                         "(index) {{\n{}%q = arith.cmpi eq, %n, %c0 : index\n"
                         "scf.if %q {{ func.call @k() : () -> () }} else {{ func.call @m() : () -> "
                         "() }}\n{}%up = arith.addi %n, %c1 : index\n"
                         "%full = arith.cmpi sge, %up, %c3 : index\n"
                         "%next = arith.select %full, %c0, %up : index\n"
                         "scf.yield %next : index }}\n"
                         "aie.use_lock(%r, Release, %last)\naie.end",
                         kTake, kGive))
            .cores.at(0);
    const auto& round = std::get<program::LoopOp>(core.script.at(0).op);
    EXPECT_EQ(round.count, 2);
    EXPECT_EQ(std::count_if(round.body.begin(), round.body.end(),
                            [](const program::CoreOp& op) {
                                return std::holds_alternative<program::AcquireOp>(op.op);
                            }),
              3);
    // 7 mod 3: what is left decides the last lock's count.
    const auto& last = std::get<program::ReleaseOp>(core.script.back().op);
    EXPECT_EQ(last.action.value, 1);
}

// Elements in turn, carried from run to run or kept in slots of the core's own.
TEST(ControlFlow, SlotsOfACoresOwnAreWhatItsBlocksHandOn) {
    const auto body = [](const std::string& before, const std::string& loop,
                         const std::string& element, const std::string& behind) {
        return fmt::format(
            "%y = memref.subview %x[16] [16] [1] : memref<64xi32> to memref<16xi32>\n{}"
            "{} {{\n{}{}%w = memref.load %e[%c1] : memref<16xi32>\n"
            "aie.put_stream(%z : i32, %w : i32)\n{}{} }}\naie.end",
            before, loop, kTake, element, kGive, behind);
    };
    const std::string zero = "%z = arith.constant 0 : i32\n";
    const std::string slots =
        "%s = memref.alloca() {aie.objectfifo.object_slot} : memref<memref<16xi32>>\n"
        "%t0 = memref.alloca() : memref<memref<16xi32>>\n"
        "memref.store %x, %s[] : memref<memref<16xi32>>\n"
        "memref.store %y, %t0[] : memref<memref<16xi32>>\n";
    expect_twins(body(zero,
                      "%r0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%e = %x, %f = %y) -> "
                      "(memref<16xi32>, memref<16xi32>)",
                      "", "scf.yield %f, %e : memref<16xi32>, memref<16xi32>"),
                 body(zero + slots, "scf.for %i = %c0 to %c5 step %c1",
                      "%e = memref.load %s[] : memref<memref<16xi32>>\n",
                      "%f = memref.load %t0[] : memref<memref<16xi32>>\n"
                      "memref.store %e, %t0[] : memref<memref<16xi32>>\n"
                      "memref.store %f, %s[] : memref<memref<16xi32>>\n"));
    // A number in a slot decides like one that is carried.
    const std::string turn = "func.call @{}() : () -> ()\n";
    const auto decided = [&](const std::string& loop, const std::string& load,
                             const std::string& end) {
        return fmt::format(
            "{}{}%q = arith.cmpi eq, %n, %c0 : index\n"
            "scf.if %q {{ {} }} else {{ {} }}\n{}"
            "%next = arith.subi %c1, %n : index\n{} }}\naie.end",
            loop, load, fmt::format(fmt::runtime(turn), "k"), fmt::format(fmt::runtime(turn), "m"),
            kGive, end);
    };
    expect_twins(decided("%last = scf.for %i = %c0 to %c5 step %c1 iter_args(%n = %c0) -> (index) "
                         "{\n",
                         "", "scf.yield %next : index"),
                 decided("%s = memref.alloca() : memref<index>\n"
                         "memref.store %c0, %s[] : memref<index>\n"
                         "scf.for %i = %c0 to %c5 step %c1 {\n",
                         "%n = memref.load %s[] : memref<index>\n",
                         "memref.store %next, %s[] : memref<index>"));
}

TEST(ControlFlow, ASlotThatAFunctionIsGivenStaysMemory) {
    const auto body = [](const std::string& given) {
        return fmt::format(
            "%s = memref.alloca() : memref<index>\nmemref.store %c0, %s[] : memref<index>\n"
            "{}%n = memref.load %s[] : memref<index>\n%q = arith.cmpi eq, %n, %c0 : index\n"
            "scf.if %q {{ func.call @k() : () -> () }}\n{}aie.end",
            given, kGive);
    };
    EXPECT_EQ(error_of(body("")), "");
    EXPECT_THAT(error_of(body("func.call @m(%s) : (memref<index>) -> ()\n")),
                HasSubstr("which way this branch goes depends on data"));
    // Nobody has stored in it what it gives: not followed for ever.
    EXPECT_THAT(error_of(body("memref.store %n, %s[] : memref<index>\n")),
                HasSubstr("%n is not defined before this"));
}

TEST(ControlFlow, ALockCountOfZeroIsNothing) {
    const auto script =
        read(fmt::format("aie.use_lock(%a, AcquireGreaterEqual, %c0)\n{}aie.end", kGive))
            .cores.at(0)
            .script;
    ASSERT_EQ(script.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<program::ReleaseOp>(script[0].op));
}

TEST(ControlFlow, WhileAndSwitchAreTheirBlocks) {
    expect_twins(
        fmt::format("%end = scf.while (%i = %c0) : (index) -> index {{\n"
                    "%q = arith.cmpi slt, %i, %c5 : index\nscf.condition(%q) %i : index }} do {{\n"
                    "^bb0(%j: index):\n{}%n = arith.addi %j, %c1 : index\nscf.yield %n : index }}\n"
                    "{}aie.end",
                    kTake, kGive),
        fmt::format(
            "cf.br ^h(%c0 : index)\n^h(%i: index):\n%q = arith.cmpi slt, %i, %c5 : index\n"
            "cf.cond_br %q, ^b(%i : index), ^e\n^b(%j: index):\n{}%n = arith.addi %j, %c1 : "
            "index\ncf.br ^h(%n : index)\n^e:\n{}aie.end",
            kTake, kGive));
    expect_twins(
        fmt::format(
            "scf.for %i = %c0 to %c3 step %c1 {{ {}scf.index_switch %i\ncase 0 {{\n"
            "func.call @k() : () -> () scf.yield }}\ndefault {{\nfunc.call @m() : () -> ()\n"
            "}}\n{} }} aie.end",
            kTake, kGive),
        fmt::format(
            "cf.br ^h(%c0 : index)\n^h(%i: index):\n%t0 = arith.cmpi slt, %i, %c3 : index\n"
            "cf.cond_br %t0, ^b, ^e\n^b:\n{}%v = arith.index_cast %i : index to i32\n"
            "cf.switch %v : i32, [\ndefault: ^d,\n0: ^z\n]\n^z:\nfunc.call @k() : () -> ()\n"
            "cf.br ^j\n^d:\nfunc.call @m() : () -> ()\ncf.br ^j\n^j:\n{}%n = arith.addi %i, "
            "%c1 : index\ncf.br ^h(%n : index)\n^e:\naie.end",
            kTake, kGive));
}

TEST(ControlFlow, WaysOutOfTheMiddleAreFollowed) {
    // Leaves behind the third take: 3 takes, 2 gives.
    const auto script =
        read(fmt::format(
                 "cf.br ^h(%c0 : index)\n^h(%i: index):\n%t0 = arith.cmpi slt, %i, %c5 : "
                 "index\ncf.cond_br %t0, ^b, ^e\n^b:\n{}%q = arith.cmpi eq, %i, %c2 : index\n"
                 "cf.cond_br %q, ^e, ^g\n^g:\n{}%n = arith.addi %i, %c1 : index\n"
                 "cf.br ^h(%n : index)\n^e:\naie.end",
                 kTake, kGive))
            .cores.at(0)
            .script;
    const auto count = [&script](auto kind) {
        return std::count_if(script.begin(), script.end(), [](const program::CoreOp& op) {
            return std::holds_alternative<decltype(kind)>(op.op);
        });
    };
    EXPECT_EQ(count(program::AcquireOp{}), 3);
    EXPECT_EQ(count(program::ReleaseOp{}), 2);
}

TEST(ControlFlow, LoopsWithSeveralEntriesAreRefused) {
    EXPECT_THAT(error_of(fmt::format("%v = memref.load %x[%c0] : memref<64xi32>\n"
                                     "cf.cond_br %v, ^one, ^two\n^one:\n{}cf.br ^two\n"
                                     "^two:\n{}cf.br ^one",
                                     kTake, kGive)),
                HasSubstr("has several entries"));
}

TEST(TimesPassed, CountsEveryPredicate) {
    EXPECT_EQ(times_passed("slt", 0, 3, 10), 4);   // 0 3 6 9
    EXPECT_EQ(times_passed("sle", 0, 3, 9), 4);    // 0 3 6 9
    EXPECT_EQ(times_passed("sgt", 10, -3, 1), 3);  // 10 7 4
    EXPECT_EQ(times_passed("sge", 10, -3, 1), 4);  // 10 7 4 1
    EXPECT_EQ(times_passed("ne", 0, 5, 15), 3);
    EXPECT_EQ(times_passed("ne", 0, 4, 15), -1);
    EXPECT_EQ(times_passed("eq", 2, 1, 2), 1);
    EXPECT_EQ(times_passed("slt", 5, 1, 5), 0);
    EXPECT_EQ(times_passed("slt", 0, 0, 5), -1);
    EXPECT_EQ(times_passed("ult", 0, 1, -1), INT64_MAX);  // all there is
}

std::string lowered(const std::string& text) {
    return arch::npu::program::print(lower(parse_design(text, "d.mlir"), {}, config()).program);
}

TEST(GenericForm, SaysWhatTheOwnFormSays) {
    const std::string own =
        "aie.device(npu1) {\n%s = aie.tile(0, 0)\n%t = aie.tile(0, 2)\n"
        "%x = aie.buffer(%t) {sym_name = \"x\"} : memref<64xi32>\n"
        "%a = aie.lock(%t, 1) {init = 2 : i32, sym_name = \"a\"}\n"
        "aie.flow(%s, DMA : 0, %t, DMA : 0)\naie.shim_dma_allocation @in(%s, MM2S, 0)\n"
        "%m = aie.mem(%t) {\n%0 = aie.dma_start(S2MM, 0, ^b, ^e)\n"
        "^b:\naie.use_lock(%a, AcquireGreaterEqual, 1)\n"
        "aie.dma_bd(%x : memref<64xi32>, 0, 32) {bd_id = 3 : i32}\n"
        "aie.use_lock(%a, Release, 1)\naie.next_bd ^b\n^e:\naie.end\n}\n"
        "%c = aie.core(%t) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "%c5 = arith.constant 5 : index\nscf.for %i = %c0 to %c5 step %c1 {\n"
        "%v = memref.load %x[%i] : memref<64xi32>\naie.use_lock(%a, Release, 1)\n}\naie.end\n}\n"
        "aie.runtime_sequence @q(%p: memref<32xi32>) {\n"
        "aiex.npu.dma_memcpy_nd(%p[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 2 : i64, metadata = "
        "@in} : memref<32xi32>\n}\n}";
    const std::string generic =
        "\"builtin.module\"() ({\n\"aie.device\"() <{device = 4 : i32}> ({\n"
        "%s = \"aie.tile\"() <{col = 0 : i32, row = 0 : i32}> : () -> index loc(#loc1)\n"
        "%t = \"aie.tile\"() <{col = 0 : i32, row = 2 : i32}> : () -> index\n"
        "%x = \"aie.buffer\"(%t) <{sym_name = \"x\"}> : (index) -> memref<64xi32>\n"
        "%a = \"aie.lock\"(%t) <{init = 2 : i32, lockID = 1 : i32, sym_name = \"a\"}> : (index) -> "
        "index\n"
        "\"aie.flow\"(%s, %t) <{dest_bundle = 1 : i32, dest_channel = 0 : i32, source_bundle = 1 : "
        "i32, source_channel = 0 : i32}> : (index, index) -> ()\n"
        "\"aie.shim_dma_allocation\"(%s) <{channel_dir = 1 : i32, channel_index = 0 : i64, "
        "sym_name "
        "= \"in\"}> : (index) -> ()\n"
        "%m = \"aie.mem\"(%t) ({\n"
        "%0 = \"aie.dma_start\"() <{channel_dir = 0 : i32, channel_index = 0 : i32}>[^b, ^e] : () "
        "-> "
        "i1\n^b:\n\"aie.use_lock\"(%a) <{action = 2 : i32, value = 1 : i32}> : (index) -> ()\n"
        "\"aie.dma_bd\"(%x) <{bd_id = 3 : i32, len = 32 : i32, offset = 0 : i32}> : "
        "(memref<64xi32>) "
        "-> ()\n\"aie.use_lock\"(%a) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()\n"
        "\"aie.next_bd\"()[^b] : () -> ()\n^e:\n\"aie.end\"() : () -> ()\n}) : (index) -> index\n"
        "%c = \"aie.core\"(%t) ({\n%c0 = \"arith.constant\"() <{value = 0 : index}> : () -> index\n"
        "%c1 = \"arith.constant\"() <{value = 1 : index}> : () -> index\n"
        "%c5 = \"arith.constant\"() <{value = 5 : index}> : () -> index\n"
        "\"scf.for\"(%c0, %c5, %c1) ({\n^bb0(%i: index):\n"
        "%v = \"memref.load\"(%x, %i) : (memref<64xi32>, index) -> i32\n"
        "\"aie.use_lock\"(%a) <{action = 1 : i32, value = 1 : i32}> : (index) -> ()\n"
        "\"scf.yield\"() : () -> ()\n}) : (index, index, index) -> ()\n"
        "\"aie.end\"() : () -> ()\n}) : (index) -> index\n"
        "\"aie.runtime_sequence\"() <{sym_name = \"q\"}> ({\n^bb0(%p: memref<32xi32>):\n"
        "\"aiex.npu.dma_memcpy_nd\"(%p) <{id = 2 : i64, metadata = @in, static_offsets = "
        "array<i64: "
        "0, 0, 0, 0>, static_sizes = array<i64: 1, 1, 1, 32>, static_strides = array<i64: 0, 0, 0, "
        "1>}> : (memref<32xi32>) -> ()\n}) : () -> ()\n}) : () -> ()\n}) : () -> ()\n"
        "#loc1 = loc(\"d.mlir\":3:4)\n";
    EXPECT_EQ(lowered(own), lowered(generic));
}

TEST(GenericForm, ADescriptorsConstantsHaveNamesOfTheirOwnSince2026) {
    const auto design = [](const std::string& bd) {
        return "aie.device(npu1) {\n%t = aie.tile(0, 1)\n"
               "%x = aie.buffer(%t) {sym_name = \"x\"} : memref<64xi32>\n"
               "aie.memtile_dma(%t) {\n%0 = aie.dma_start(S2MM, 0, ^b, ^e)\n^b:\n" +
               bd + "\naie.next_bd ^e\n^e:\naie.end\n}\n}";
    };
    EXPECT_EQ(
        lowered(design("aie.dma_bd(%x : memref<64xi32>, 4, 24, [<size = 3, stride = 16>, "
                       "<size = 8, stride = 1>]) {bd_id = 2 : i32}")),
        lowered(design("\"aie.dma_bd\"(%x) <{bd_id = 2 : i32, operandSegmentSizes = array<i32: "
                       "1, 0, 0, 0, 0>, static_len = 24 : i32, static_offset = 4 : i32, "
                       "static_sizes = array<i64: 3, 8>, static_strides = array<i64: 16, "
                       "1>}> : (memref<64xi32>) -> ()")));
}

TEST(GenericForm, TasksAndAllocationsByColumnAreTheSame) {
    const std::string tasks =
        "%0 = aiex.dma_configure_task(%s, MM2S, 0) {\naie.dma_bd(%p : memref<32xi32>) {bd_id = 3 : "
        "i32, len = 8 : i32, offset = 0 : i32}\naie.end\n} {issue_token = true}\n"
        "aiex.dma_start_task(%0)\naiex.dma_await_task(%0)\n"
        "%1 = aiex.dma_configure_task_for @out {\naie.dma_bd(%p : memref<32xi32>) {bd_id = 4 : "
        "i32, len = 8 : i32, offset = 0 : i32}\naie.end\n} {issue_token = true}\n"
        "aiex.dma_start_task(%1)\naiex.dma_free_task(%1)\n";
    const std::string own =
        "aie.device(npu1) {\n%s = aie.tile(0, 0)\naie.shim_dma_allocation @out(S2MM, 1, 0)\n"
        "aie.runtime_sequence @q(%p: memref<32xi32>) {\n" +
        tasks + "}\n}";
    const std::string bd =
        "({\n\"aie.dma_bd\"(%p) <{bd_id = {} : i32, len = 8 : i32, offset = 0 : i32}> : "
        "(memref<32xi32>) -> ()\n\"aie.end\"() : () -> ()\n})";
    const auto blocks = [&bd](const char* id) {
        std::string text = bd;
        return text.replace(text.find("{}"), 2, id);
    };
    const std::string generic =
        "\"builtin.module\"() ({\n\"aie.device\"() <{device = 4 : i32}> ({\n"
        "%s = \"aie.tile\"() <{col = 0 : i32, row = 0 : i32}> : () -> index\n"
        "\"aie.shim_dma_allocation\"() <{channel_dir = 0 : i32, channel_index = 1 : i64, col = 0 : "
        "i64, sym_name = @out}> : () -> ()\n"
        "\"aie.runtime_sequence\"() <{sym_name = \"q\"}> ({\n^bb0(%p: memref<32xi32>):\n"
        "%0 = \"aiex.dma_configure_task\"(%s) <{channel = 0 : i32, direction = 1 : i32, "
        "issue_token = true}> " +
        blocks("3") +
        " : (index) -> index\n\"aiex.dma_start_task\"(%0) : (index) -> ()\n"
        "\"aiex.dma_await_task\"(%0) : (index) -> ()\n"
        "%1 = \"aiex.dma_configure_task_for\"() <{alloc = @out, issue_token = true}> " +
        blocks("4") +
        " : () -> index\n\"aiex.dma_start_task\"(%1) : (index) -> ()\n"
        "\"aiex.dma_free_task\"(%1) : (index) -> ()\n}) : () -> ()\n}) : () -> ()\n}) : () -> "
        "()\n";
    EXPECT_EQ(lowered(own), lowered(generic));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::core
