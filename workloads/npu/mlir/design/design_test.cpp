#include "workloads/npu/mlir/design/design.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/check/transfer_checks.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"
#include "workloads/npu/mlir/design/device_names.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::design {
namespace {

using arch::base::config::ConfigError;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Design, LocksAndBuffersGetIdsAndAddresses) {
    const program::Program program = read(kSmallDesign).program;
    EXPECT_EQ(program.locks[0].id, 3);
    EXPECT_EQ(program.locks[0].initial, 2);
    EXPECT_EQ(program.locks[1].id, 0);  // the lowest free one
    // The larger buffer takes the first bank (64 KiB), the smaller the next.
    EXPECT_EQ(program.buffers[1].address, 0);
    EXPECT_EQ(program.buffers[0].address, 65536);
    EXPECT_EQ(program.buffers[2].address, 0);  // no core on this tile, no stack
}

// A number below 0 was taken for none.
TEST(Design, StatedIdsAndAddressesAreNotNegative) {
    const auto error = [](const std::string& operation) {
        return error_of(std::string{kSmallDesign} + operation);
    };
    EXPECT_THAT(error("%n = aie.lock(%m, -1)"),
                HasSubstr("d.mlir:7:19: a lock's id must be 0 or more, got -1"));
    EXPECT_THAT(error("%n = aie.buffer(%m) {address = -1 : i32} : memref<4xi32>"),
                HasSubstr("address must be 0 or more, got -1"));
    EXPECT_THAT(error("%n = aie.buffer(%m) {mem_bank = -1 : i32} : memref<4xi32>"),
                HasSubstr("mem_bank must be 0 or more, got -1"));
}

TEST(Design, ADmaRegionIsOfItsTilesKind) {
    const std::string region = "aie.{}({}) {{ aie.end }}";
    const auto error = [&](const char* name, const char* tile) {
        return error_of(kSmallDesign + fmt::format(fmt::runtime(region), name, tile));
    };
    EXPECT_EQ(error("shim_dma", "%s") + error("memtile_dma", "%m") + error("mem", "%c"), "");
    EXPECT_THAT(error("memtile_dma", "%c"),
                HasSubstr("the DMA of tile 0,2 is aie.mem, not aie.memtile_dma"));
    EXPECT_THAT(error("mem", "%m"), HasSubstr("is aie.memtile_dma, not aie.mem"));
}

// A memory tile that sends what one block of its DMA says.
std::string with_block(const std::string& block) {
    return std::string{kSmallDesign} +
           "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n^a:\n" + block +
           "\naie.next_bd ^e\n^e: aie.end }";
}

TEST(Design, PartsKnowTheLinesTheyWereReadFrom) {
    const Design design = read(std::string{kSmallDesign} +
                               "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n"
                               "^a: aie.dma_bd(%b : memref<64xi32>, 0, 8)\n aie.next_bd ^e\n"
                               "^e: aie.end }");
    const program::Program& p = design.program;
    EXPECT_FALSE(p.file.empty());
    ASSERT_FALSE(p.dmas.empty());
    const std::int32_t start = p.dmas[0].starts[0].task.where.line;
    EXPECT_GT(start, p.buffers[0].where.line);
    EXPECT_GT(start, p.locks[0].where.line);
    EXPECT_GT(p.locks[0].where.line, 0);
    EXPECT_EQ(p.dmas[0].descriptors[0].where, (arch::base::FilePlace{start + 1, 5}));
}

TEST(Design, TilesAndLoopsThatOptionsNameAreThere) {
    const std::string body =
        "%worker = aie.logical_tile<CoreTile>(?, ?)\n"
        "aie.core(%worker) { %0 = arith.constant 0 : index %1 = arith.constant 1 : index\n"
        "scf.for %i = %0 to %1 step %1 { } aie.end }";
    ReadOptions options;
    options.tiles["worker"] = {0, 3};
    options.loops[4] = 2;  // the line of its scf.for
    EXPECT_EQ(error_of(body, options), "");
    options.tiles["wroker"] = {0, 4};
    options.loops[999] = 2;
    EXPECT_THAT(error_of(body, options),
                AllOf(HasSubstr("no logical tile is named %wroker; did you mean %worker?"),
                      HasSubstr("no loop is on line 999")));
}

// What mlir_aie_initialize_locks did, in modules of before 2023, which have no aie.device.
TEST(Design, LocksOnceUsedBesideTheCoresAreUsedBeforeTheStart) {
    const std::string lock = "%t = AIE.tile(1, 3) %l = AIE.lock(%t, 3)\n";
    EXPECT_EQ(read_aie1(lock + "AIE.useLock(%l, \"Release\", 1)\n").program.locks.at(0).initial, 1);
    const Design asked = read_aie1(lock + "AIE.useLock(%l, \"Acquire\", 1)\n");
    EXPECT_EQ(asked.program.locks.at(0).initial, 0);
    EXPECT_THAT(asked.notes, Contains(HasSubstr("asks for l in state 1 before the start")));
    try {
        read_aie1(lock + "AIE.useLock(%l, \"Acquire\", 0)\n");
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), HasSubstr("d.mlir:3:1: the host takes l before the start"));
    }
    EXPECT_THAT(error_of("%t = aie.tile(0, 3) %l = aie.lock(%t, 3)\naie.use_lock(%l, Release, 1)"),
                HasSubstr("d.mlir:3:1: aie.use_lock must stand in a core or a DMA"));
}

TEST(Design, OfANameThatNothingHasTheNearestIsTold) {
    const std::string start =
        "%middle = aie.tile(0, 2) %full = aie.lock(%middle, 0)\n"
        "aie.objectfifo @input(%middle, {%middle}, 1 : i32) : !aie.objectfifo<memref<4xi32>>\n";
    const auto flow = [&start](const std::string& to) {
        return error_of(start + "aie.flow(%middle, DMA : 0, " + to + ", DMA : 0)");
    };
    EXPECT_THAT(flow("%midle"),
                HasSubstr("%midle is not known here; a tile is expected; did you mean %middle?"));
    EXPECT_THAT(flow("%ful"), testing::Not(HasSubstr("did you mean")));  // a lock is no tile
    EXPECT_THAT(
        error_of(start + "aie.core(%middle) { aie.objectfifo.release @inptu(Consume, 1) aie.end }"),
        HasSubstr("no object FIFO is named @inptu; did you mean @input?"));
}

TEST(Design, ASymbolIsDeclaredOnce) {
    const std::string fifo =
        "aie.objectfifo @f(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<8xi32>>\n";
    EXPECT_THAT(error_of(std::string{kSmallDesign} + fifo + fifo),
                HasSubstr("d.mlir:8:1: aie.objectfifo declares @f a second time, after line 7"));
    // Of another kind it is another thing: the compiler gives both the name of an object FIFO.
    EXPECT_EQ(
        error_of(std::string{kSmallDesign} + "memref.global \"public\" @in : memref<8xi32>\n"), "");
}

TEST(Design, CostsOfFunctionsThatNoCoreCallsAreNamed) {
    const std::string body =
        std::string{kSmallDesign} +
        "func.func private @k()\naie.core(%c) { func.call @k() : () -> () aie.end }";
    ReadOptions options;
    options.costs.kernels["k"] = 5;
    EXPECT_THAT(read(body, options).notes, Not(Contains(HasSubstr("no core calls"))));
    options.costs.kernels["other"] = 5;
    options.costs.cascade["third"] = {1, 0};
    EXPECT_THAT(read(body, options).notes,
                Contains("no core calls other, third, whose costs are stated"));
}

TEST(Design, BothSyntaxesOfADescriptorSayTheSame) {
    const program::BufferDescriptor old = block(
        "aie.use_lock(%q, AcquireGreaterEqual, 1)\n"
        "aie.dma_bd(%b : memref<64xi32>, 8, 24, [<size = 3, stride = 16>, <size = 8, stride = 1>])"
        "{packet = #aie.packet_info<pkt_type = 2, pkt_id = 7>, bd_id = 5 : i32}\n"
        "aie.use_lock(%p, Release, 2)");
    const program::BufferDescriptor present = block(
        "%one = arith.constant 1 : i32\n%two = arith.constant 2 : i32\n"
        "aie.use_lock(%q, AcquireGreaterEqual, %one)\naie.dma_bd_packet(2, 7)\n"
        "aie.dma_bd(%b : memref<64xi32> offset = 8 len = 24 sizes = [3, 8] strides = [16, 1])"
        "{bd_id = 5 : i32}\naie.use_lock(%p, Release, %two)");
    for (const program::BufferDescriptor& d : {old, present}) {
        EXPECT_EQ(d.id, 5);
        EXPECT_EQ(d.offset, 32);
        EXPECT_EQ(d.length, 24);
        ASSERT_EQ(d.dimensions.size(), 2U);
        EXPECT_EQ(d.dimensions[0].size, 8);  // innermost first
        EXPECT_EQ(d.dimensions[1].stride, 16);
        EXPECT_EQ(d.acquire->value, -1);
        EXPECT_EQ(d.release->value, 2);
        EXPECT_EQ(d.packet->id, 7);
        EXPECT_EQ(d.packet->type, 2);
    }
}

TEST(Design, NarrowElementsBecomeWords) {
    const program::BufferDescriptor d = block(
        "aie.dma_bd(%b8 : memref<64x64xi8>, 4, 1024, [<size = 32, stride = 64>, "
        "<size = 32, stride = 1>])");
    EXPECT_EQ(d.offset, 4);
    EXPECT_EQ(d.length, 256);
    EXPECT_EQ(d.dimensions[0].size, 8);
    EXPECT_EQ(d.dimensions[1].stride, 16);
    EXPECT_THAT(error_of(with_block("aie.dma_bd(%b8 : memref<64x64xi8>, 0, 6)")),
                HasSubstr("6 elements of 8 bits are no whole number"));
}

// Until 2024: an innermost stride of one word, where the sizes count words. 32 rows of 64 bytes,
// the first 32 of each, by columns of two words.
TEST(Design, SizesMayCountTheWordsOfNarrowElements) {
    const program::BufferDescriptor d = block(
        "aie.dma_bd(%b8 : memref<64x64xi8>, 0, 1024, [<size = 4, stride = 8>, "
        "<size = 32, stride = 64>, <size = 2, stride = 4>])");
    EXPECT_EQ(d.length, 256);
    ASSERT_EQ(d.dimensions.size(), 3U);
    EXPECT_EQ(d.dimensions[0].size, 2);
    EXPECT_EQ(d.dimensions[0].stride, 1);
    EXPECT_EQ(d.dimensions[2].stride, 2);
    EXPECT_THAT(
        error_of(with_block("aie.dma_bd(%b8 : memref<64x64xi8>, 0, 64, [<size = 2, stride = 4>])")),
        HasSubstr("innermost stride of 4 elements of 8 bits"));
}

TEST(Design, TheStatedLengthCountsPadding) {
    const program::BufferDescriptor d = block(
        "aie.dma_bd(%b : memref<64xi32>, 0, 16, [<size = 13, stride = 1>], "
        "[<const_pad_before = 2, const_pad_after = 1>])");
    EXPECT_EQ(block("aie.dma_bd(%b : memref<64xi32> offset = 0 len = 16 sizes = [13] strides = [1] "
                    "pad [<2, 1>] pad_value = 7)")
                  .padding[0]
                  .after,
              1);
    EXPECT_EQ(d.length, 13);
    EXPECT_EQ(d.padding[0].before, 2);
    EXPECT_EQ(d.padding[0].after, 1);
}

TEST(Design, BlocksAreFollowedNotReadInOrder) {
    const program::Program program =
        read(std::string{kSmallDesign} +
             "aie.memtile_dma(%m) { %0 = aie.dma_start(S2MM, 0, ^late, ^more, repeat_count = 4)\n"
             "^early: aie.dma_bd(%b : memref<64xi32>, 32, 8)\n aie.next_bd ^e\n"
             "^more: %1 = aie.dma_start(S2MM, 0, ^early, ^e)\n"
             "^late: aie.dma_bd(%b : memref<64xi32>, 0, 16)\n aie.next_bd ^early\n"
             "^e: aie.end }")
            .program;
    const program::TileDma& dma = program.dmas.at(0);
    ASSERT_EQ(dma.starts.size(), 2U);
    EXPECT_EQ(dma.starts[0].task.repeat, 5);
    EXPECT_EQ(dma.descriptors[0].length, 16);
    EXPECT_EQ(dma.descriptors[0].next, dma.descriptors[1].id);
    EXPECT_EQ(dma.starts[1].task.descriptor, dma.descriptors[1].id);
    EXPECT_FALSE(dma.descriptors[1].next.has_value());
}

TEST(Design, EmptyBlocksLeadOn) {
    const program::Program program =
        read(std::string{kSmallDesign} +
             "aie.memtile_dma(%m) { %0 = aie.dma_start(S2MM, 0, ^way, ^e)\n"
             "^way: aie.next_bd ^a\n^a: aie.dma_bd(%b : memref<64xi32>, 0, 16)\n"
             "aie.next_bd ^back\n^back: aie.next_bd ^way\n^e: aie.end }")
            .program;
    const program::TileDma& dma = program.dmas.at(0);
    ASSERT_EQ(dma.descriptors.size(), 1U);
    EXPECT_EQ(dma.descriptors[0].next, dma.descriptors[0].id);
    EXPECT_EQ(dma.starts.at(0).task.descriptor, dma.descriptors[0].id);
}

TEST(Design, ChannelsStartedWithoutATransferAreLeftOut) {
    const Design design = read(std::string{kSmallDesign} +
                               "aie.memtile_dma(%m) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n"
                               "^a: aie.next_bd ^a\n^e: aie.end }");
    EXPECT_TRUE(design.program.dmas.empty() || design.program.dmas[0].starts.empty());
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("started without a transfer")));
}

TEST(Design, ABlockOfADmaEndsOnceAndHasATransferForItsLocks) {
    const auto error = [](const std::string& block, const std::string& end) {
        return error_of(std::string{kSmallDesign} +
                        "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n^a:\n"
                        "aie.dma_bd(%b : memref<64xi32>, 0, 64)\n" +
                        block + "\n^e: " + end + " }");
    };
    EXPECT_EQ(error("aie.next_bd ^a", "aie.end"), "");
    EXPECT_THAT(error("", "aie.end"), HasSubstr("ends without aie.next_bd or aie.end"));
    EXPECT_THAT(error("aie.next_bd ^e\naie.use_lock(%p, Release, 1)", "aie.end"),
                HasSubstr("d.mlir:11:1: this stands behind the end of its block (aie.next_bd)"));
    EXPECT_THAT(error("aie.next_bd ^e", "aie.use_lock(%p, Release, 1) aie.end"),
                HasSubstr("this lock is used in a block without a transfer"));
    // One block need not write its end, of two the first must.
    const std::string task =
        "aie.runtime_sequence(%a: memref<64xi32>) { %t = aiex.dma_configure_task(%s, MM2S, 0) {\n"
        "aie.dma_bd(%a : memref<64xi32>, 0, 32)\n";
    EXPECT_EQ(error_of(std::string{kSmallDesign} + task + "} }"), "");
    EXPECT_THAT(error_of(std::string{kSmallDesign} + task +
                         "^b: aie.dma_bd(%a : memref<64xi32>, 32, 32) aie.end } }"),
                HasSubstr("ends without aie.next_bd or aie.end"));
}

// A shim's dimension counts to 1023: a row of 2048 words is two of them, as the compiler makes it.
TEST(Design, ADimensionOfTooManyStepsIsTwo) {
    for (const char* transfer :
         {"aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 2, 2048][0, 0, 4096, 1]) "
          "{id = 0 : i64, metadata = @in} : memref<8192xi32>",
          "%t = aiex.dma_configure_task_for @in { aie.dma_bd(%a : memref<8192xi32>, 0, 4096, "
          "[<size = 2, stride = 4096>, <size = 2048, stride = 1>]) aie.end } "
          "aiex.dma_start_task(%t)"}) {
        const program::Program program =
            read(std::string{kSmallDesign} + "aie.runtime_sequence(%a: memref<8192xi32>) {\n" +
                 transfer + " }")
                .program;
        const auto& bd = std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor;
        EXPECT_EQ(bd.length, 2 * 2048);
        ASSERT_EQ(bd.dimensions.size(), 3U);
        EXPECT_EQ(bd.dimensions[0].size, 512);
        EXPECT_EQ(bd.dimensions[0].stride, 1);
        EXPECT_EQ(bd.dimensions[1].size, 4);
        EXPECT_EQ(bd.dimensions[1].stride, 512);
        EXPECT_EQ(bd.dimensions[2].size, 2);
        EXPECT_EQ(bd.dimensions[2].stride, 4096);
    }
}

TEST(Design, RepeatCountFollowsTheProducer) {
    const std::string dma =
        std::string{kSmallDesign} +
        "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e, repeat_count = 3)\n"
        "^a: aie.dma_bd(%b : memref<64xi32>)\n aie.next_bd ^e\n^e: aie.end }";
    ReadOptions runs;
    runs.repeat_count = RepeatCount::Runs;
    EXPECT_EQ(read(dma).program.dmas[0].starts[0].task.repeat, 4);
    EXPECT_EQ(read(dma, runs).program.dmas[0].starts[0].task.repeat, 3);
    const Design iree = read(dma + "aie.switchbox(%m) {aie.connect<DMA : 0, NORTH : 0>}");
    EXPECT_EQ(iree.program.dmas[0].starts[0].task.repeat, 3);
    EXPECT_THAT(iree.notes, testing::Contains(HasSubstr("iree-amd-aie")));
}

TEST(Design, SwitchboxesPinRoutesAndArbiters) {
    const std::string routed =
        "module { aie.device(npu1) { %m = aie.tile(0, 1) %c = aie.tile(0, 2)\n"
        "aie.switchbox(%m) { %0 = aie.amsel<2> (0) %1 = aie.masterset(North : 4, %0)\n"
        "aie.packet_rules(DMA : 0) { aie.rule(28, 4, %0) } }\n"
        "aie.switchbox(%c) { %0 = aie.amsel<1> (3)\n"
        "%1 = aie.masterset(DMA : 1, %0) {keep_pkt_header = true}\n"
        "aie.packet_rules(South : 4) { aie.rule(31, 6, %0) } } } }";
    const std::string design =
        std::string{"module { aie.device(npu1) {\n"} + kSmallDesign +
        "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n"
        "^a: aie.dma_bd(%b : memref<64xi32>) {packet = #aie.packet_info<pkt_type = 0, pkt_id = "
        "6>} aie.next_bd ^e\n^e: aie.end } } }\n// -----\n" +
        routed;
    const program::Program program =
        lower(parse_design(design, "d.mlir"), ReadOptions{}, config()).program;
    ASSERT_EQ(program.routes.size(), 1U);
    const program::Route& route = program.routes[0];
    EXPECT_EQ(route.packet_id, 6);
    EXPECT_TRUE(route.keep_header);
    EXPECT_EQ(route.destinations[0], (program::ChannelId{{0, 2}, program::Direction::S2MM, 1}));
    ASSERT_EQ(route.path.size(), 2U);
    EXPECT_EQ(route.path[0].arbiter, 2);
    EXPECT_EQ(name_of(route.path[0].out), "north4");
    EXPECT_EQ(route.path[1].arbiter, 1);
    EXPECT_EQ(name_of(route.path[1].in), "south4");
    for (const char* select : {"<6> (0)", "<-1> (0)", "<0> (4)"}) {
        EXPECT_THAT(error_of(fmt::format("%m = aie.tile(0, 1) aie.switchbox(%m) {{ %0 = "
                                         "aie.amsel{} }}",
                                         select)),
                    HasSubstr("a switch has arbiters 0..5 with selects 0..3, not amsel"));
    }
}

TEST(Design, SaysWhereAndWhatItDoesNotRead) {
    EXPECT_THAT(error_of("aie.objectfifo @f(%a, {%b}, 2 : i32)"),
                HasSubstr("d.mlir:2:19: %a is not known here; a tile is expected"));
    EXPECT_THAT(error_of(" aie.novelty(%a)"), HasSubstr("d.mlir:2:2: aie.novelty is not modelled"));
    EXPECT_THAT(error_of("%t = aie.tile(9, 0)"), HasSubstr("tile 9,0 is outside the array"));
    EXPECT_THAT(error_of(std::string{kSmallDesign} + "aie.flow(%s, DMA : 0, %nobody, DMA : 0)"),
                HasSubstr("%nobody is not known here; a tile is expected"));
    EXPECT_THAT(
        error_of(std::string{kSmallDesign} + "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                                             "aiex.npu.dma_wait {symbol = @inn}\naiex.novelty }"),
        testing::AllOf(HasSubstr("did you mean @in?"),
                       HasSubstr("aiex.novelty is not modelled in a run-time sequence")));
}

// Around a device stands what other dialects print.
TEST(Design, OtherDialectsAroundTheDeviceArePassedOver) {
    const auto source = parse_design(
        "module { func.func @f(%a: index) {\n"
        "%r, %t = stream.resource.alloca uninitialized : !stream.resource<external>{%a} => "
        "!stream.timepoint\nreturn }\naie.device(npu1) { %s = aie.tile(0, 0) } }",
        "d.mlir");
    EXPECT_EQ(lower(source, {}, config()).program.locks.size(), 0U);
}

TEST(Design, AFileFromBeforeTheLoweringIsNamedAsOne) {
    const auto told = [](const std::string& text) -> std::string {
        try {
            lower(parse_design(text, "d.mlir"), {}, config());
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(told("module {\nfunc.func @f() {\nair.launch () in () { }\nreturn }\n}"),
                HasSubstr("no aie.device: air.launch (line 3) is of what the compiler lowers"));
    EXPECT_EQ(told("module { func.func @f() { return } }"), "d.mlir: the file has no aie.device");
}

TEST(Design, AMistakeInATransfersBlockIsNamedForWhatItIs) {
    const std::string bd = "aie.dma_bd(%b : memref<64xi32>, 0, 8) {task_id = 1 : i32}\n";
    EXPECT_THAT(error_of(with_block(bd + bd)), HasSubstr("one transfer; this is its second"));
    // What holds in the whole device may stand there.
    EXPECT_EQ(error_of(with_block(
                  "%h = aie.external_buffer : memref<8xi32>\n%k = aie.lock(%m, 9)\n" + bd)),
              "");
}

TEST(Design, SeveralDevicesNeedAChoice) {
    const auto source = parse_design(
        "module { aie.device(npu1) @one { %t = aie.tile(0, 2) %b = aie.buffer(%t) : memref<1xi32> }"
        " aie.device(npu2) @two { %t = aie.tile(0, 2) %b = aie.buffer(%t) : memref<1xi32> } }",
        "d.mlir");
    EXPECT_THROW(target_of(source, {}), ConfigError);
    ReadOptions options;
    options.device = "two";
    EXPECT_EQ(target_of(source, options), "npu2");
}

// npu.write_config (October 2026): the array is reset by an empty configuration and set up by
// register writes.
TEST(Design, AConfigurationIsWrittenIntoAnArrayThatWasReset) {
    const program::Program program =
        read_for("xdna",
                 "module { aie.device(npu1) @empty { }\n"
                 "aie.device(npu1) @work { %t = aie.tile(0, 2) }\n"
                 "aie.device(npu1) @main { aie.runtime_sequence() {\n"
                 "aiex.npu.load_pdi {device_ref = @empty}\naiex.npu.write_config @work\n} } }")
            .program;
    EXPECT_EQ(program.name, "main");
    EXPECT_FALSE(program.sets_itself_up);
    ASSERT_EQ(program.then.size(), 1U);
    EXPECT_EQ(program.then[0].name, "work");
    EXPECT_TRUE(program.then[0].sets_itself_up);
}

TEST(Design, ControlCodeOfMicrocontrollersIsNamed) {
    EXPECT_THAT(
        error_of(std::string{kSmallDesign} + "aiex.cert.job(1) { aiex.cert.write32(0x1000, 1) }\n"),
        HasSubstr("aiex.cert.job is control code for the array's microcontrollers"));
}

TEST(Design, ASequenceLoadsConfigurationsOfItsOwnGeneration) {
    const auto told = [](const char* target) {
        const std::string text = fmt::format(
            "module {{\naie.device({}) @part {{ aie.runtime_sequence @run() {{ }} }}\n"
            "aie.device(npu1) {{ aie.runtime_sequence() {{ aiex.configure @part {{\n"
            "aiex.run @run() : () }} }} }} }}",
            target);
        try {
            lower(parse_design(text, "d.mlir"), {}, config());
        } catch (const arch::base::config::ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    EXPECT_EQ(told("npu1") + told("npu1_4col"), "");
    EXPECT_THAT(told("npu2"), HasSubstr("d.mlir:2:1: @part is a configuration of npu2, and the "
                                        "sequence that loads it is npu1's"));
}

TEST(Design, APartOfACutFileKeepsItsLineNumbers) {
    const std::string text =
        "module { aie.device(npu1) {} }\n// -----\nmodule { aie.device(npu2) { aie.novelty(%a) } "
        "}\n";
    EXPECT_EQ(target_of(parse_design(text, "d.mlir", 1), {}), "npu1");
    const Source second = parse_design(text, "d.mlir", 2);
    EXPECT_EQ(target_of(second, {}), "npu2");
    try {
        lower(second, {}, config());
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(), HasSubstr("d.mlir:3:29: aie.novelty"));
    }
    EXPECT_THROW(parse_design(text, "d.mlir", 3), ConfigError);
}

// Declared, and as the registers the compiler makes of that: what compare names a trace's slots by.
// A channel that takes what trace units send has a stream in the design: it was said that no route
// leads there.
TEST(Design, ChannelsOfTracesReceiveNothing) {
    const auto problems = [](const std::string& flow, const std::string& wait) {
        const Design design =
            read(std::string{kSmallDesign} + flow +
                 "aie.shim_dma_allocation @trace(%s, S2MM, 1)\n"
                 "aie.runtime_sequence(%x: memref<64xi32>) {\n"
                 "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 15 : i64, "
                 "metadata = @trace, issue_token = true} : memref<64xi32>\n" +
                 wait + "}\n");
        const auto found = arch::npu::check::check_transfers(design.program, config());
        return fmt::format("{}{}", fmt::join(found.errors, "\n"), fmt::join(found.warnings, "\n"));
    };
    const std::string trace =
        "aie.packet_flow(1) { aie.packet_source<%c, Trace : 0> aie.packet_dest<%s, DMA : 1> }\n";
    EXPECT_EQ(problems(trace, ""), "");
    EXPECT_THAT(problems("", ""), HasSubstr("no route leads there"));
    EXPECT_THAT(problems(trace, "aiex.npu.dma_wait {symbol = @trace}\n"),
                HasSubstr("trace units feed it"));
}

TEST(Design, TraceUnitsWatchWhatTheDesignDeclares) {
    const Design declared = read(
        "%m = aie.tile(0, 1) %c = aie.tile(0, 2)\n"
        "aie.trace @core(%c) { aie.trace.mode \"Event-Time\"\naie.trace.packet id=1 type=core\n"
        "aie.trace.event<\"INSTR_VECTOR\">\naie.trace.event<CoreEventAIE2::LOCK_STALL>\n"
        "aie.trace.port<0> port=DMA channel=1 direction=S2MM\n"
        "aie.trace.port<3> port=North channel=1 direction=MM2S\naie.trace.start broadcast=15 }\n"
        "aie.trace @memory(%c) { aie.trace.packet id=2 type=\"mem\"\n"
        "aie.trace.event<\"LOCK_3_REL\"> }\n"
        "aie.trace @memory_tile(%m) { aie.trace.packet id=3 type=memtile\n"
        "aie.trace.port<7> port=DMA channel=5 direction=MM2S }");
    const auto& slots = declared.trace_slots;
    ASSERT_EQ(slots.size(), 3U);
    EXPECT_EQ(slots[0].tile, (program::TileCoordinate{0, 2}));
    EXPECT_EQ(slots[0].unit, 0);
    EXPECT_EQ(slots[0].names[0], "INSTR_VECTOR");
    EXPECT_EQ(slots[0].names[1], "LOCK_STALL");
    EXPECT_EQ(slots[0].ports[0], 0x22);  // behind the core's own stream, put out by the switch
    EXPECT_FALSE(slots[0].ports[1]);
    EXPECT_EQ(slots[0].ports[3], 0x1F);
    EXPECT_EQ(slots[1].unit, 1);
    EXPECT_EQ(slots[1].names[0], "LOCK_3_REL");
    EXPECT_EQ(slots[2].unit, 3);
    EXPECT_EQ(slots[2].ports[7], 5);
    const Design configured = read(
        "%c = aie.tile(0, 2)\naie.trace.config @core(%c) packet_type = core {\n"
        "aie.trace.reg register = \"Trace_Event1\" value = 0x1A250000 mask = 0x7f7f7f7f\n"
        "aie.trace.reg register = \"Stream_Switch_Event_Port_Selection_0\" value = 289\n}");
    ASSERT_EQ(configured.trace_slots.size(), 1U);
    EXPECT_EQ(configured.trace_slots[0].events[6], 0x25);
    EXPECT_EQ(configured.trace_slots[0].events[7], 0x1A);
    EXPECT_EQ(configured.trace_slots[0].ports[0], 0x21);
    EXPECT_EQ(configured.trace_slots[0].ports[1], 0x01);
    EXPECT_THAT(error_of("%c = aie.tile(0, 2)\naie.trace @t(%c) {\n"
                         "aie.trace.port<8> port=DMA channel=0 direction=S2MM }"),
                HasSubstr("d.mlir:4:1: a trace unit watches ports 0..7, not 8"));
}

TEST(DeviceNames, PartitionsMeanTheirArray) {
    EXPECT_EQ(read_target("npu1_4col"), (Target{"xdna", 4}));
    EXPECT_EQ(read_target("npu"), (Target{"xdna", 0}));
    EXPECT_EQ(read_target("ipu"), (Target{"xdna", 0}));  // its name before 2024
    EXPECT_EQ(read_target("npu2_1col"), (Target{"xdna2", 1}));
    EXPECT_EQ(read_target("xcve3858"), (Target{"ve3858", 0}));
    EXPECT_EQ(read_target("xcve3558"), (Target{"ve3858", 24}));
    EXPECT_EQ(read_target("npu2_7col"), (Target{"xdna2", 7}));
    EXPECT_EQ(read_target("xcvc1902"), (Target{"vck190", 0}));
    for (const char* unknown : {"NPUDEVICE", "npu1_5col", "npu2_9col", "npu1_0col", "npu1_",
                                "npu1_1", "npu1_1row", "npu12", "xcvc1902_1col"}) {
        EXPECT_EQ(read_target(unknown), Target{}) << unknown;
    }
}

TEST(DeviceNames, NothingOfADesignLiesBesideItsPartition) {
    const auto small = [](const std::string& target) {
        const std::string text =
            "module { aie.device(" + target +
            ") {\n"
            "%s = aie.tile(0, 0) %c = aie.logical_tile<CoreTile>(?, ?)\n"
            "aie.core(%c) { aie.end } %d = aie.tile(0, 2) %e = aie.tile(0, 3)\n"
            "%f = aie.tile(0, 4) %g = aie.tile(0, 5) aie.core(%d) { aie.end }\n"
            "aie.core(%e) { aie.end } aie.core(%f) { aie.end } aie.core(%g) { aie.end } } }";
        return read_for("xdna", text).program;
    };
    EXPECT_EQ(small("npu1").columns, 0);
    EXPECT_EQ(small("npu1_4col").columns, 0);
    EXPECT_EQ(small("npu1_2col").columns, 2);
    EXPECT_THAT([&] { small("npu1_1col"); },
                testing::ThrowsMessage<ConfigError>(HasSubstr("no tile is left for %c")));
    EXPECT_THAT(
        [] { read_for("xdna", "module { aie.device(npu1_2col) {\n%t = aie.tile(2, 0) } }"); },
        testing::ThrowsMessage<ConfigError>(
            HasSubstr("tile 2,0 is outside the array of this target, columns 0..1 and rows 0..5")));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::design
