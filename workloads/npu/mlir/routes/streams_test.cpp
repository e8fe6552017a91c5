// Streams, cascades and chains of designs, and what is different on the first generation.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

using design::Design;
using design::error_of;
using design::kPair;
using design::parse_design;
using design::read_aie1;
using design::read_for;
using design::read_npu;
using design::target_of;

namespace {

using arch::base::config::ConfigError;
using testing::HasSubstr;

TEST(DesignStreams, AModuleWithoutDeviceIsTheFirstGeneration) {
    const std::string text = "module @m { %t = aie.tile(1, 3) }";
    EXPECT_EQ(target_of(parse_design(text, "d.mlir"), {}), "xcvc1902");
    EXPECT_THAT(read_for("vck190", text).notes, testing::Contains(HasSubstr("no aie.device")));
}

TEST(DesignStreams, BinaryLocksKeepTheStateTheyAreAskedFor) {
    const program::Program program =
        read_aie1(
            "%t = aie.tile(7, 3) %b = aie.buffer(%t) : memref<16xi32>\n"
            "%l = aie.lock(%t, 3)\n"
            "aie.mem(%t) { aie.dma_start(\"S2MM\", 0, ^a, ^e)\n"
            "^a: aie.use_lock(%l, \"Acquire\", 0)\n"
            "aie.dma_bd(%b : memref<16xi32>, 0, 16)\n"
            "aie.use_lock(%l, \"Release\", 1) aie.next_bd ^a\n"
            "^e: aie.end }")
            .program;
    const program::BufferDescriptor& bd = program.dmas.at(0).descriptors.at(0);
    EXPECT_EQ(bd.acquire->value, 0);
    EXPECT_EQ(bd.release->value, 1);
}

// A core's release to 0 was left out, as a counting lock's release of nothing is.
TEST(DesignStreams, ACoreReleasesABinaryLockToTheStateItNames) {
    const program::Program program = read_aie1(
                                         "%t = aie.tile(7, 3) %l = aie.lock(%t, 3)\n"
                                         "aie.core(%t) { aie.use_lock(%l, Acquire, 1)\n"
                                         "aie.use_lock(%l, Release, 0) aie.end }")
                                         .program;
    ASSERT_EQ(program.cores.at(0).script.size(), 2U);
    EXPECT_EQ(std::get<program::ReleaseOp>(program.cores[0].script[1].op).action.value, 0);
}

// AM009: in even rows the core lies east of its memory and reaches the one east of it.
TEST(DesignStreams, CoresOfTheFirstGenerationReachByRow) {
    const auto problems = [](const std::string& lock_tile, const std::string& core_tile) {
        return arch::npu::check::verify(
            read_aie1("%a = aie.tile" + lock_tile + " %b = aie.tile" + core_tile +
                      "\n%l = aie.lock(%a, 3)\n"
                      "aie.core(%b) { aie.use_lock(%l, \"Acquire\", 0) aie.end }")
                .program,
            arch::npu::shipped_config("vck190"));
    };
    EXPECT_TRUE(problems("(5, 4)", "(4, 4)").empty());
    EXPECT_FALSE(problems("(4, 4)", "(5, 4)").empty());
    EXPECT_TRUE(problems("(4, 3)", "(5, 3)").empty());
    EXPECT_FALSE(problems("(5, 3)", "(4, 3)").empty());
}

TEST(DesignStreams, LocalizedLocksAreWindowsOfSixteen) {
    const auto lock_of = [](int number) {
        const program::Program program = read_npu(fmt::format(
            "%o = aie.tile(1, 3) %s = aie.tile(1, 2) %w = aie.tile(0, 3) %n = aie.tile(1, 4)\n"
            "%a = aie.lock(%s, 5) %b = aie.lock(%w, 5) %c = aie.lock(%n, 5) %d = aie.lock(%o, 5)\n"
            "aie.core(%o) {{ %i = arith.constant {} : index\n"
            "aie.use_lock(%i, AcquireGreaterEqual, 1) aie.end }}",
            number));
        return std::get<program::AcquireOp>(program.cores.at(0).script.at(0).op).action.lock;
    };
    EXPECT_EQ(lock_of(5), 0);
    EXPECT_EQ(lock_of(16 + 5), 1);
    EXPECT_EQ(lock_of(32 + 5), 2);
    EXPECT_EQ(lock_of(48 + 5), 3);
}

TEST(DesignStreams, AWireBetweenSwitchboxesJoinsThem) {
    const program::Program program =
        read_aie1(
            "%s = aie.tile(7, 0) %o = aie.tile(7, 1) %c = aie.tile(7, 3)\n"
            "aie.flow(%o, South : 3, %c, DMA : 0)\n"
            "aie.flow(%c, DMA : 1, %o, South : 2)\n"
            "aie.switchbox(%s) { aie.connect<South : 3, North : 3>\n"
            "aie.connect<North : 2, South : 2> }\n"
            "aie.shim_mux(%s) { aie.connect<DMA : 0, North : 3>\n"
            "aie.connect<North : 2, DMA : 0> }")
            .program;
    ASSERT_EQ(program.routes.size(), 2U);
    EXPECT_EQ(program.routes[0].source, (program::ChannelId{{7, 0}, program::Direction::MM2S, 0}));
    EXPECT_EQ(program.routes[0].destinations[0],
              (program::ChannelId{{7, 3}, program::Direction::S2MM, 0}));
    EXPECT_TRUE(program.routes[0].path.empty());  // the router's
    EXPECT_EQ(program.routes[1].source, (program::ChannelId{{7, 3}, program::Direction::MM2S, 1}));
    EXPECT_EQ(program.routes[1].destinations[0],
              (program::ChannelId{{7, 0}, program::Direction::S2MM, 0}));
}

TEST(DesignStreams, BroadcastsAreStreamsWithSeveralReceivers) {
    const program::Program program = read_npu(
        "%a = aie.tile(0, 2) %b = aie.tile(1, 2) %c = aie.tile(2, 2)\n"
        "aiex.multicast(%a, DMA : 0) { aiex.multi_dest<%b, DMA : 0> aiex.multi_dest<%c, DMA : 1> "
        "}\n"
        "aiex.broadcast_packet(%a, DMA : 1) { aiex.bp_id(0xD) { aiex.bp_dest<%b, DMA : 1> } }");
    ASSERT_EQ(program.routes.size(), 2U);
    EXPECT_EQ(program.routes[0].destinations.size(), 2U);
    EXPECT_FALSE(program.routes[0].packet_id.has_value());
    EXPECT_EQ(program.routes[1].packet_id, 13);
}

constexpr const char* kCascade =
    "%w = aie.tile(0, 3) %e = aie.tile(1, 3) %x = aie.buffer(%w) : memref<32xbf16>\n"
    "func.func private @k(memref<32xbf16>)\n"
    "aie.core(%w) { func.call @k(%x) : (memref<32xbf16>) -> () aie.end }\n";

TEST(DesignStreams, CascadesComeFromFlowsOrFromTheTwoEnds) {
    const std::string puts =
        "%w = aie.tile(0, 3) %e = aie.tile(1, 3)\n"
        "aie.core(%w) { %v = ub.poison : vector<32xbf16>\n"
        "aie.put_cascade(%v : vector<32xbf16>) aie.end }\n"
        "aie.core(%e) { %v = aie.get_cascade() : vector<32xbf16> aie.end }\n";
    for (const char* stated :
         {"aie.cascade_flow(%w, %e)",
          "aie.configure_cascade(%w, North, East) aie.configure_cascade(%e, West, South)"}) {
        const program::Program program = read_npu(puts + stated);
        ASSERT_EQ(program.cascades.size(), 1U) << stated;
        EXPECT_EQ(program.cascades[0].from, (program::TileCoordinate{0, 3}));
        EXPECT_EQ(program.cascades[0].to, (program::TileCoordinate{1, 3}));
    }
    // Unconfigured, AIE-ML's cascade leads south.
    EXPECT_EQ(read_npu(puts).cascades.at(0).to, (program::TileCoordinate{0, 2}));
    ReadOptions options;
    options.costs.cascade["k"] = {3, 5};
    const auto script =
        read_npu(std::string{kCascade} + "aie.cascade_flow(%w, %e)", options).cores.at(0).script;
    ASSERT_EQ(script.size(), 3U);
    EXPECT_EQ(std::get<program::GetCascadeOp>(script[0].op).words, 3);
    EXPECT_EQ(std::get<program::PutCascadeOp>(script[2].op).words, 5);
}

// AM009: from west to east in the lowest row of cores, back in the next.
TEST(DesignStreams, TheFirstGenerationsCascadeIsASnake) {
    const auto next = [](int column, int row) {
        return read_aie1(fmt::format("%t = aie.tile({}, {})\n"
                                     "aie.core(%t) {{ %v = ub.poison : i384\n"
                                     "aie.put_cascade(%v : i384) aie.end }}",
                                     column, row))
            .program.cascades.at(0)
            .to;
    };
    EXPECT_EQ(next(4, 1), (program::TileCoordinate{5, 1}));
    EXPECT_EQ(next(4, 2), (program::TileCoordinate{3, 2}));
    EXPECT_EQ(next(49, 1), (program::TileCoordinate{49, 2}));
    EXPECT_EQ(next(0, 2), (program::TileCoordinate{0, 3}));
}

constexpr program::ChannelId kOut{{0, 3}, program::Direction::MM2S, 0, program::PortKind::Core};
constexpr program::ChannelId kIn{{1, 3}, program::Direction::S2MM, 0, program::PortKind::Core};

TEST(DesignStreams, CoresPutOnAndGetFromTheirOwnStreams) {
    const std::string puts =
        std::string{kPair} +
        "aie.core(%w) { %p = arith.constant 1 : i32 %i = arith.constant 3 : index\n"
        "%v = memref.load %x[%i] : memref<16xi32>\n"
        "aie.put_stream(%p : i32, %v : i32) aie.end }\n"
        "aie.core(%e) { %p = arith.constant 0 : i32\n"
        "%v = aie.get_stream(%p : i32) : i32 aie.end }\n";
    const Design design = read_for("xdna", "module { aie.device(npu1) {\n" + puts +
                                               "aie.flow(%w, Core : 0, %e, Core : 0) } }");
    const program::Program& program = design.program;
    ASSERT_EQ(program.routes.size(), 1U);
    EXPECT_EQ(program.routes[0].source, kOut);
    EXPECT_EQ(program.routes[0].destinations, std::vector{kIn});
    const auto& script = program.cores.at(0).script;
    ASSERT_EQ(script.size(), 2U);
    // The load's word is put as soon as it is there.
    const auto& call = std::get<program::CallOp>(script[0].op);
    EXPECT_EQ(program.kernels[static_cast<std::size_t>(call.kernel)].cycles, 7);
    const auto& put = std::get<program::PutStreamOp>(script[1].op);
    EXPECT_EQ(put.words, 1);
    EXPECT_EQ(put.port, 0);  // AIE-ML has one: the number does not count
    const auto& core = program.cores[0];
    EXPECT_EQ(core.rotations.at(static_cast<std::size_t>(*put.place.operand)).offset, 3);
}

TEST(DesignStreams, AStreamsValueIsSoManyWords) {
    const auto words = [](const char* type) {
        const auto program = read_aie1(
            fmt::format("%t = aie.tile(7, 3) %u = aie.tile(8, 3) aie.flow(%t, Core : 1, %u, Core : "
                        "0)\n"
                        "aie.core(%t) {{ %p = arith.constant 1 : i32 %v = arith.constant 5 : {0}\n"
                        "aie.put_stream(%p : i32, %v : {0}) aie.end }}\n"
                        "aie.core(%u) {{ %v = aie.get_stream(0) : {0} aie.end }}",
                        type));
        const auto& put = std::get<program::PutStreamOp>(program.program.cores.at(0).script[0].op);
        const auto& get = std::get<program::GetStreamOp>(program.program.cores.at(1).script[0].op);
        EXPECT_EQ(put.port, 1);
        EXPECT_EQ(put.words, get.words);
        return put.words;
    };
    EXPECT_EQ(words("i32"), 1);
    EXPECT_EQ(words("f32"), 1);
    EXPECT_EQ(words("i128"), 4);
    EXPECT_THAT(error_of("%t = aie.tile(0, 2) aie.core(%t) { %p = ub.poison : i32\n"
                         "aie.put_stream(%p : i32, %p : i32) }"),
                HasSubstr("is not a constant the reader knows"));
    EXPECT_THAT(
        error_of("%t = aie.tile(0, 2) aie.core(%t) { %p = arith.constant 0 : i32\n"
                 "%v = arith.constant 5 : i16 aie.put_stream(%p : i32, %v : i16) aie.end }"),
        HasSubstr("words of 32 bits (i32, f32, i128), not i16"));
}

TEST(DesignStreams, KernelsStreamAccessesComeFromTheSideFile) {
    const std::string text = std::string{kPair} +
                             "aie.core(%w) { func.call @k() : () -> () aie.end }\n"
                             "aie.flow(%w, Core : 0, %s, DMA : 0)\n";
    ReadOptions options;
    options.costs.streams["k"] = {.put = 5};
    const auto program = read_npu(text, options);
    EXPECT_EQ(std::get<program::PutStreamOp>(program.cores.at(0).script.at(1).op).words, 5);
    ASSERT_EQ(program.routes.size(), 1U);
    EXPECT_EQ(program.routes[0].source, kOut);
    // Without: nobody knows how many words pass.
    const Design without = read_for("xdna", "module { aie.device(npu1) {\n" + text + "} }");
    EXPECT_TRUE(without.program.routes.empty());
    EXPECT_THAT(without.notes, testing::Contains(HasSubstr("state it under `stream`")));
    EXPECT_THAT(
        error_of(text + "aie.shim_dma_allocation @out(%s, S2MM, 0)\n"
                        "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) "
                        "{id = 1 : i64, metadata = @out, issue_token = true} : memref<8xi32>\n"
                        "aiex.npu.dma_wait {symbol = @out} }"),
        HasSubstr("the sequence waits for what core 0,3 puts on its own stream"));
    options.costs.streams["k"] = {.get = 3};
    const auto gets = read_npu(std::string{kPair} +
                                   "aie.core(%w) { func.call @k() : () -> () aie.end }\n"
                                   "aie.flow(%s, DMA : 0, %w, Core : 0)\n",
                               options);
    EXPECT_EQ(std::get<program::GetStreamOp>(gets.cores.at(0).script.at(0).op).words, 3);
}

TEST(DesignStreams, AClearedBuffersParametersAreZero) {
    const std::string body =
        "%c = aie.tile(0, 2) %b = aie.buffer(%c) {address = 64 : i32} : memref<4xi32>\n"
        "%l = aie.lock(%c, 0)\n"
        "aie.core(%c) { %z = arith.constant 0 : index %o = arith.constant 1 : index\n"
        "%m = arith.constant 1 : i32 aie.use_lock(%l, AcquireGreaterEqual, %m)\n"
        "%v = memref.load %b[%o] : memref<4xi32> %n = arith.index_cast %v : i32 to index\n"
        "scf.for %i = %z to %n step %o { aie.use_lock(%l, AcquireGreaterEqual, %m) } aie.end }\n"
        "aie.runtime_sequence() { aiex.buffer_clear(%c, {}, 4) aiex.set_lock(%l, 1) }";
    const auto at = [&body](const std::string& offset) {
        std::string text = body;
        return text.replace(text.find("{}"), 2, offset);
    };
    const auto program = read_npu(at("64"));
    const auto& write = std::get<program::WriteParameter>(program.sequence.at(0));
    EXPECT_EQ(write.value, 0);
    EXPECT_THAT(error_of(at("65532")), HasSubstr("4 words from byte 65532 lie outside a core's"));
}

TEST(DesignStreams, BuffersAndLocksOfACoreAndOfDmaRegionsAreTheirTiles) {
    const auto program = read_npu(
        "%a = aie.tile(0, 2) %b = aie.tile(0, 3) %p = aie.plio(4)\n"
        "aie.core(%a) { %x = aie.buffer(%a) {sym_name = \"table\"} : memref<4xi32> aie.end }\n"
        "aie.mem(%a) { %1 = aie.lock(%a, 5) aie.use_lock(%1, Release, 1) aie.end }\n"
        "aie.mem(%b) { %1 = aie.lock(%b, 6) aie.use_lock(%1, Release, 1) aie.end }\n");
    ASSERT_EQ(program.buffers.size(), 1U);
    EXPECT_EQ(program.buffers[0].name, "table");
    ASSERT_EQ(program.locks.size(), 2U);
    EXPECT_EQ(program.locks[0].tile, (program::TileCoordinate{0, 2}));
    EXPECT_EQ(program.locks[1].tile, (program::TileCoordinate{0, 3}));
}

TEST(DesignStreams, SwitchboxesLeadToAndFromCores) {
    const auto program = read_npu(std::string{kPair} +
                                  "aie.core(%w) { %p = arith.constant 0 : i32\n"
                                  "aie.put_stream(%p : i32, %p : i32) aie.end }\n"
                                  "aie.core(%e) { %v = aie.get_stream(0) : i32 aie.end }\n"
                                  "aie.switchbox(%w) { aie.connect<Core : 0, East : 2> }\n"
                                  "aie.switchbox(%e) { aie.connect<West : 2, Core : 0> }");
    ASSERT_EQ(program.routes.size(), 1U);
    EXPECT_EQ(program.routes[0].source, kOut);
    EXPECT_EQ(program.routes[0].destinations, std::vector{kIn});
    ASSERT_EQ(program.routes[0].path.size(), 2U);
    EXPECT_EQ(program.routes[0].path[1].out, (program::SwitchPort{program::Bundle::Core, 0}));
}

// The compiler repeats a task as often as its repeat_count says; the fourth dimension only counts.
TEST(DesignStreams, ATaskRunsAsOftenAsItsRepeatCountSays) {
    const auto repeat = [](const std::string& attributes) {
        const auto program = read_npu(
            "%s = aie.tile(0, 0)\naie.runtime_sequence(%a: memref<64xi32>) {\n"
            "%t = aiex.dma_configure_task(%s, MM2S, 0) {\n"
            "aie.dma_bd(%a : memref<64xi32>, 0, 8, [<size = 3, stride = 16>, <size = 1, stride = "
            "0>, <size = 1, stride = 0>, <size = 8, stride = 1>]) {bd_id = 0 : i32}\n"
            "aie.end } " +
            attributes + "\naiex.dma_start_task(%t) }");
        return std::get<program::PushTask>(program.sequence.at(1)).task.repeat;
    };
    EXPECT_EQ(repeat("{repeat_count = 2 : i32}"), 3);
    EXPECT_EQ(repeat("{repeat_count = 1 : i32}"), 2);
    EXPECT_EQ(repeat(""), 3);
}

constexpr const char* kChain =
    "%s = aie.tile(0, 0) %c = aie.tile(0, 2) %l = aie.lock(%s, 4)\n"
    "aie.shim_dma_allocation @out(%s, S2MM, 1)\n"
    "aie.bd_chain @pair(%x: memref<8xi32>, %m: index) {\n"
    "aie.use_lock(%m, Acquire, 1) aie.dma_bd(%x : memref<8xi32>, 0, 6) aie.next_bd ^b\n"
    "^b: aie.dma_bd(%x : memref<8xi32>, 6, 2) aie.end }\n";

TEST(DesignStreams, AChainIsWrittenWhereItIsStarted) {
    const program::Program program = read_npu(
        std::string{kChain} +
        "aie.runtime_sequence(%a: memref<8xi32>) {\n"
        "%t = aiex.dma_start_bd_chain @pair(%a, %l) : (memref<8xi32>, index) on (%s, MM2S, 0)\n"
        "%u = aiex.dma_start_bd_chain_for @pair(%a, %l) : (memref<8xi32>, index) for @out "
        "{issue_token = true}\n"
        "aiex.dma_await_task(%u) }");
    ASSERT_EQ(program.sequence.size(), 7U);
    const auto& first = std::get<program::WriteDescriptor>(program.sequence[0]).descriptor;
    EXPECT_EQ(first.length, 6);
    EXPECT_EQ(first.acquire->value, 1);
    EXPECT_EQ(first.next, std::get<program::WriteDescriptor>(program.sequence[1]).descriptor.id);
    const auto& push = std::get<program::PushTask>(program.sequence[5]);
    EXPECT_EQ(push.channel, (program::ChannelId{{0, 0}, program::Direction::S2MM, 1}));
    EXPECT_TRUE(push.task.token);
    EXPECT_THAT(error_of(std::string{kChain} +
                         "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                         "%t = aiex.dma_start_bd_chain @pare(%a, %l) : () on (%s, MM2S, 0) }"),
                HasSubstr("no aie.bd_chain is named @pare"));
}

TEST(DesignStreams, TheHostsStepsFollowTheSequence) {
    ReadOptions options;
    options.host = {{false, "in", 1}, {true, "out", 1}};
    const std::string body =
        "%t = aie.tile(7, 0) %i = aie.lock(%t, 1) {sym_name = \"in\"}\n"
        "aie.lock(%t, 2) {sym_name = \"out\"}";
    const program::Program program = read_aie1(body, options).program;
    ASSERT_EQ(program.sequence.size(), 2U);
    EXPECT_EQ(std::get<program::SetLock>(program.sequence[0]).value, 1);
    EXPECT_EQ(std::get<program::AcquireLock>(program.sequence[1]).action.value, 1);
    options.host = {{false, "inn", 1}};
    EXPECT_THROW(read_aie1(body, options), ConfigError);
    options.host = {{false, "in", 2}};
    EXPECT_THROW(read_aie1(body, options), ConfigError);
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::routes
