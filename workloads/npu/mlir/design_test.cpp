#include "workloads/npu/mlir/design.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "workloads/npu/mlir/device_names.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {
namespace {

using arch::base::config::ConfigError;
using testing::HasSubstr;

const NpuConfig& config() {
    static const NpuConfig kConfig = arch::npu::shipped_config("xdna");
    return kConfig;
}

Design read(const std::string& body, const ReadOptions& options = {}) {
    const auto source = parse_design("module { aie.device(npu1) {\n" + body + "\n} }", "d.mlir");
    return lower(source, options, config());
}

std::string error_of(const std::string& body, const ReadOptions& options = {}) {
    try {
        read(body, options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kTiles =
    "%s = aie.tile(0, 0) %m = aie.tile(0, 1) %c = aie.tile(0, 2)\n"
    "%b = aie.buffer(%m) : memref<64xi32> %b8 = aie.buffer(%m) : memref<64x64xi8>\n"
    "%p = aie.lock(%m, 3) {init = 2 : i32} %q = aie.lock(%m)\n"
    "%x = aie.buffer(%c) : memref<16xi32> %l = aie.lock(%c, 5)\n"
    "aie.flow(%s, DMA : 0, %m, DMA : 0) aie.shim_dma_allocation @in(%s, MM2S, 0)\n";

// The descriptor of one block of the memory tile's MM2S 0.
program::BufferDescriptor block(const std::string& operations) {
    const Design design = read(std::string{kTiles} +
                               "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n^a:\n" +
                               operations + "\naie.next_bd ^e\n^e: aie.end }");
    return design.program.dmas.at(0).descriptors.at(0);
}

TEST(Design, LocksAndBuffersGetIdsAndAddresses) {
    const program::Program program = read(kTiles).program;
    EXPECT_EQ(program.locks[0].id, 3);
    EXPECT_EQ(program.locks[0].initial, 2);
    EXPECT_EQ(program.locks[1].id, 0);  // the lowest free one
    // The larger buffer takes the first bank (64 KiB), the smaller the next.
    EXPECT_EQ(program.buffers[1].address, 0);
    EXPECT_EQ(program.buffers[0].address, 65536);
    EXPECT_EQ(program.buffers[2].address, 0);  // no core on this tile, no stack
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
    EXPECT_THAT(error_of(std::string{kTiles} +
                         "aie.memtile_dma(%m) { %0 = aie.dma_start(MM2S, 0, ^a, ^e)\n"
                         "^a: aie.dma_bd(%b8 : memref<64x64xi8>, 0, 6)\n aie.next_bd ^e\n^e: "
                         "aie.end }"),
                HasSubstr("6 elements of 8 bits are no whole number"));
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
        read(std::string{kTiles} +
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
        read(std::string{kTiles} +
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
    const Design design = read(std::string{kTiles} +
                               "aie.memtile_dma(%m) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n"
                               "^a: aie.next_bd ^a\n^e: aie.end }");
    EXPECT_TRUE(design.program.dmas.empty() || design.program.dmas[0].starts.empty());
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("started without a transfer")));
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
            read(std::string{kTiles} + "aie.runtime_sequence(%a: memref<8192xi32>) {\n" + transfer +
                 " }")
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
        std::string{kTiles} +
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

TEST(Design, ACoreBecomesAScript) {
    const program::Program program =
        read(std::string{kTiles} +
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
    // A run of the inner loop: load at 0, add when it is there (7), store at 8, done at 9,
    // branch 6.
    EXPECT_EQ(work.cycles, 6 * (7 + 1 + 1 + 6));
    EXPECT_EQ(work.kind, program::KernelKind::Inline);
}

TEST(Design, EndlessAndUnrolledControlFlow) {
    const auto script = [](const std::string& body) {
        return read(std::string{kTiles} + "aie.core(%c) {" + body + "}").program.cores.at(0).script;
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
    EXPECT_THAT(
        error_of(std::string{kTiles} + "aie.core(%c) { %v = memref.load %x[%y] : memref<16xi32>\n"
                                       "scf.if %v { aie.use_lock(%l, Acquire, 1) } aie.end }"),
        HasSubstr("d.mlir:8:1: which way this branch goes depends on data"));
}

TEST(Design, KernelCostsAreStatedOrEstimated) {
    const std::string body = std::string{kTiles} +
                             "func.func private @k(memref<16xi32>)\n"
                             "aie.core(%c) { func.call @k(%x) : (memref<16xi32>) -> () aie.end }";
    const Design estimated = read(body);
    EXPECT_EQ(estimated.program.kernels.at(0).cycles, 2);  // 64 B through 32 B a cycle
    EXPECT_THAT(estimated.notes, testing::Contains(HasSubstr("no cost is stated")));
    ReadOptions options;
    options.costs.kernels["k"] = 77;
    EXPECT_EQ(read(body, options).program.kernels.at(0).cycles, 77);
}

TEST(Design, BodylessCoresFollowTheirLocks) {
    const std::string body =
        std::string{kTiles} +
        "%f = aie.lock(%c, 1) {init = 1 : i32}\n"
        "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n"
        "^a: aie.use_lock(%f, AcquireGreaterEqual, 1) aie.dma_bd(%x : memref<16xi32>) "
        "aie.use_lock(%l, Release, 1) aie.next_bd ^a\n^e: aie.end }";
    // Without a sequence and without a core, the host serves these locks.
    EXPECT_TRUE(read(body).program.cores.empty());
    // A core in a file of its own: it reads 64 B once, 32 B a cycle.
    const Design assumed = read(body + "aie.core(%c) { aie.end } {elf_file = \"c.elf\"}");
    ASSERT_EQ(assumed.program.cores.size(), 1U);
    EXPECT_EQ(assumed.program.kernels.at(0).cycles, 2);
    EXPECT_THAT(assumed.notes, testing::Contains(HasSubstr("assumed: it takes a block of every")));
    ReadOptions options;
    options.costs.default_core = BodylessCore{50, 3};
    const program::Program program = read(body, options).program;
    const auto& loop = std::get<program::LoopOp>(program.cores.at(0).script[0].op);
    EXPECT_EQ(loop.body.size(), 9U);  // three times: take, work, give
}

TEST(Design, TheSequenceStatesTransfers) {
    const program::Program program =
        read(std::string{kTiles} +
             "aie.runtime_sequence(%a: memref<8x64xi32>, %n: i32) {\n"
             "aiex.npu.dma_memcpy_nd(%a[0, 0, 1, 2][4, 1, 2, 8][128, 0, 64, 1]) "
             "{id = 2 : i64, metadata = @in, issue_token = true} : memref<8x64xi32>\n"
             "aiex.npu.dma_wait {symbol = @in} aiex.set_lock(%p, 7) }")
            .program;
    ASSERT_EQ(program.sequence.size(), 4U);
    const auto& bd = std::get<program::WriteDescriptor>(program.sequence[0]).descriptor;
    EXPECT_EQ(bd.offset, 4 * (64 + 2));
    EXPECT_EQ(bd.length, 16);
    EXPECT_EQ(bd.iteration->size, 4);
    EXPECT_EQ(bd.iteration->stride, 128);
    const auto& push = std::get<program::PushTask>(program.sequence[1]);
    EXPECT_EQ(push.task.repeat, 4);
    EXPECT_TRUE(push.task.token);
    EXPECT_EQ(std::get<program::WaitToken>(program.sequence[2]).channel.direction,
              program::Direction::MM2S);
    EXPECT_EQ(std::get<program::SetLock>(program.sequence[3]).value, 7);
}

// The words of 33828896 come from a compiler's listing: release lock 1 by 1, acquire lock 0 at 1,
// valid.
TEST(Design, RegisterWritesAreDescriptors) {
    const program::Program program =
        read(std::string{kTiles} +
             "%l0 = aie.lock(%c, 0) %l1 = aie.lock(%c, 1)\n"
             "memref.global \"private\" constant @w : memref<6xi32> = dense<[16, 0, 0, 0, 0, "
             "33828896]>\naie.runtime_sequence(%a: memref<8xi32>) {\n"
             "%0 = memref.get_global @w : memref<6xi32>\n"
             "aiex.npu.blockwrite(%0) {address = 2215968 : ui32} : memref<6xi32>\n"
             "aiex.npu.write32 {address = 2219524 : ui32, value = 2147549185 : ui32} }")
            .program;
    const auto& bd = std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor;
    EXPECT_EQ(bd.id, 1);
    EXPECT_EQ(bd.length, 16);
    EXPECT_EQ(bd.acquire->value, 1);
    EXPECT_EQ(program.locks[static_cast<std::size_t>(bd.acquire->lock)].id, 0);
    EXPECT_EQ(program.locks[static_cast<std::size_t>(bd.release->lock)].id, 1);
    const auto& push = std::get<program::PushTask>(program.sequence.at(1));
    EXPECT_EQ(push.channel, (program::ChannelId{{0, 2}, program::Direction::S2MM, 0}));
    EXPECT_EQ(push.task.descriptor, 1);
    EXPECT_EQ(push.task.repeat, 2);
    EXPECT_TRUE(push.task.token);
}

TEST(Design, OperandsOfRegisterWritesStandInOrder) {
    const program::Program program =
        read(std::string{kTiles} +
             "aie.runtime_sequence(%a: memref<64xi32>) {\n"
             "%n = arith.constant 8 : i32 %w = arith.constant 118784 : i32\n"
             "%p = arith.constant 64 : i32\n"
             "aiex.npu.write32(%w, %n) {column = 1 : i32, row = 0 : i32}\n"
             "aiex.npu.address_patch(%p : i32) {addr = 33673220 : ui32, "
             "arg_idx = 0 : i32}\n"
             "aiex.npu.push_queue(1, 0, MM2S : 0) {bd_id = 0 : i32} }")
            .program;
    const auto& write = std::get<program::WriteDescriptor>(program.sequence.at(0));
    EXPECT_EQ(write.tile, (program::TileCoordinate{1, 0}));
    EXPECT_EQ(write.descriptor.length, 8);
    EXPECT_EQ(write.descriptor.offset, 64);
}

// CORE_CONTROL of a core tile is 0x32000, its bit 1 resets; 0x1DE00 controls S2MM 0. A core begins
// again when the bit falls; a channel drops its tasks when it rises. What does not run has nothing
// to reset.
TEST(Design, ResetsByRegisterAreThoseOfCoresAndChannels) {
    const auto reset = [](const std::string& before, int address) {
        std::string writes;
        for (const int value : {2, 0}) {
            writes += fmt::format(
                "aiex.npu.maskwrite32 {{address = {} : ui32, value = {} : ui32, mask = 2 : ui32, "
                "column = 0 : i32, row = 2 : i32}}\n",
                address, value);
        }
        return read(std::string{kTiles} + before + "aie.runtime_sequence(%a: memref<8xi32>) {\n" +
                    writes + "}")
            .program.sequence;
    };
    const std::string core = "aie.core(%c) { aie.use_lock(%l, Acquire, 1) aie.end }\n";
    const std::string channel =
        "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n^a: aie.dma_bd(%x : "
        "memref<16xi32>) aie.next_bd ^a\n^e: aie.end }\n";
    EXPECT_TRUE(reset("", 0x32000).empty());
    EXPECT_TRUE(reset("", 0x1DE00).empty());
    const auto cores = reset(core, 0x32000);
    ASSERT_EQ(cores.size(), 1U);
    EXPECT_EQ(std::get<program::ResetCore>(cores[0]).tile, (program::TileCoordinate{0, 2}));
    const auto channels = reset(core + channel, 0x1DE00);
    ASSERT_EQ(channels.size(), 1U);
    EXPECT_EQ(std::get<program::ResetChannel>(channels[0]).channel,
              (program::ChannelId{{0, 2}, program::Direction::S2MM, 0}));
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
        std::string{"module { aie.device(npu1) {\n"} + kTiles +
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
}

TEST(Design, SaysWhereAndWhatItDoesNotRead) {
    EXPECT_THAT(error_of("aie.objectfifo @f(%a, {%b}, 2 : i32)"),
                HasSubstr("d.mlir:2:19: %a is not known here; a tile is expected"));
    EXPECT_THAT(error_of(" aie.novelty(%a)"), HasSubstr("d.mlir:2:2: aie.novelty is not modelled"));
    EXPECT_THAT(error_of("%t = aie.tile(9, 0)"), HasSubstr("tile 9,0 is outside the array"));
    EXPECT_THAT(error_of(std::string{kTiles} + "aie.flow(%s, DMA : 0, %nobody, DMA : 0)"),
                HasSubstr("%nobody is not known here; a tile is expected"));
    EXPECT_THAT(error_of(std::string{kTiles} + "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                                               "aiex.npu.dma_wait {symbol = @inn}\naiex.novelty }"),
                testing::AllOf(HasSubstr("did you mean @in?"),
                               HasSubstr("aiex.novelty is not modelled in a run-time sequence")));
}

// A shim task of so many words at an offset, in a task's form.
std::string task(const char* name, const char* where) {
    return fmt::format(
        "%{} = aiex.dma_configure_task(%s, MM2S, 0) {{ aie.dma_bd(%a : memref<?xi32> {}) "
        "aie.end }} {{issue_token = true}}\naiex.dma_start_task(%{})\n",
        name, where, name);
}

TEST(Design, NumbersOfTheLaunchAreStated) {
    const std::string body = std::string{kTiles} +
                             "aie.runtime_sequence(%a: memref<?xi32>, %n: i32, %go: i1) {\n"
                             "scf.if %go {\n" +
                             task("t", "offset = 0 len = %n") + "} }";
    EXPECT_THAT(error_of(body), HasSubstr("%n, %go is given by the host at the launch; state it as "
                                          "design.arguments.n"));
    ReadOptions options;
    options.arguments = {{"n", 24}, {"go", 1}};
    const Design design = read(body, options);
    EXPECT_EQ(std::get<program::WriteDescriptor>(design.program.sequence.at(0)).descriptor.length,
              24);
    // Without a size of its own the argument is as large as the transfer reaches.
    EXPECT_EQ(design.program.external_buffers.at(0).bytes, 24 * 4);
    options.arguments["go"] = 0;
    EXPECT_TRUE(read(body, options).program.sequence.empty());
    options.arguments = {{"n", 24}, {"go", 0}, {"m", 1}};
    EXPECT_THAT(error_of(body, options), HasSubstr("the sequence has no number %m"));
}

TEST(Design, ASequencesLoopHandsOnWhatItYields) {
    const program::Program program =
        read(std::string{kTiles} +
             "aie.runtime_sequence(%a: memref<64xi32>) {\n%c0 = arith.constant 0 : index %c1 = "
             "arith.constant 1 : index %c3 = arith.constant 3 : index %c5 = arith.constant 5 : "
             "index\n"
             "%sum:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %c1, %y = %c5) -> (index, "
             "index) { %z = arith.addi %x, %y : index scf.yield %z, %x : index, index }\n" +
             task("t", "offset = %sum#1 len = %sum#0") + "}")
            .program;
    // 1, 5 -> 6, 1 -> 7, 6 -> 13, 7
    const auto& bd = std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor;
    EXPECT_EQ(bd.length, 13);
    EXPECT_EQ(bd.offset, 7 * 4);
}

TEST(Design, ArgumentsGrowWithTheTransfersOfTheSequence) {
    const Design design = read(std::string{kTiles} +
                               "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                               "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 2][3, 1, 2, 4][16, 0, 8, 1]) "
                               "{id = 2 : i64, metadata = @in} : memref<8xi32>\n}");
    // Words 2 to 2 + 2 * 16 + 1 * 8 + 3.
    EXPECT_EQ(design.program.external_buffers.at(0).bytes, (2 + 2 * 16 + 8 + 3 + 1) * 4);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("is larger than its type says")));
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
    const Design design = read(std::string{kTiles} + core +
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

TEST(Design, AShimDescriptorNobodyPatchesMovesABufferOfItsOwn) {
    const Design design = read(
        std::string{kTiles} +
        "aie.runtime_sequence(%a: memref<8xi32>) {\n"
        "aiex.npu.write32 {address = 0x1D060 : ui32, column = 0 : i32, row = 0 : i32, value = 16 : "
        "ui32}\n"
        "aiex.npu.write32 {address = 0x1D214 : ui32, column = 0 : i32, row = 0 : i32, value = 3 : "
        "ui32}\n}");
    ASSERT_EQ(design.program.external_buffers.size(), 2U);
    EXPECT_EQ(design.program.external_buffers[1].bytes, 16 * 4);
    EXPECT_EQ(std::get<program::WriteDescriptor>(design.program.sequence.at(0)).descriptor.buffer,
              1);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("nobody patches the address of shim "
                                                          "descriptor 3 of column 0")));
}

TEST(Design, AShimTaskTakesTheUnpatchedDescriptorsItsChainReaches) {
    const auto write = [](std::string_view address, std::uint64_t value) {
        return fmt::format(
            "aiex.npu.write32 {{address = {} : ui32, column = 0 : i32, row = 0 : "
            "i32, value = {} : ui32}}\n",
            address, value);
    };
    // Descriptors 3 to 5 move 16 words; 3 goes on with 4 (next in bits 30:27, valid next in 26).
    const Design design =
        read(std::string{kTiles} + "aie.runtime_sequence(%a: memref<8xi32>) {\n" +
             write("0x1D060", 16) + write("0x1D07C", 4U << 27 | 1U << 26) + write("0x1D080", 16) +
             write("0x1D0A0", 16) + write("0x1D214", 3) + "}");
    std::vector<std::int64_t> written;
    for (const program::SequenceOp& each : design.program.sequence) {
        if (const auto* descriptor = std::get_if<program::WriteDescriptor>(&each)) {
            written.push_back(descriptor->descriptor.id);
        }
    }
    EXPECT_EQ(written, (std::vector<std::int64_t>{3, 4}));
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

TEST(Design, AConfigureWithoutADeviceIsOfThePresentOne) {
    const Design design = read(std::string{kTiles} +
                               "aie.runtime_sequence(%a: memref<16xi32>) {\naiex.npu.configure\n"
                               "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) "
                               "{id = 2 : i64, metadata = @in} : memref<16xi32>\n}");
    EXPECT_TRUE(design.program.then.empty());
    EXPECT_EQ(design.program.sequence.size(), 2U);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("configure that names no device")));
}

// Bytes before it; the transfer counts the view's own elements.
TEST(Design, AViewMayHaveOtherElements) {
    const auto at = [](int bytes) {
        return std::string{kTiles} +
               "aie.runtime_sequence(%a: memref<1024xi8>) {\n%at = arith.constant " +
               std::to_string(bytes) +
               " : index\n%v = memref.view %a[%at][] : memref<1024xi8> to memref<64xi32>\n"
               "aiex.npu.dma_memcpy_nd(%v[0, 0, 0, 3][1, 1, 1, 16][0, 0, 0, 1]) "
               "{id = 2 : i64, metadata = @in} : memref<64xi32>\n}";
    };
    const Design design = read(at(128));
    const auto& descriptor =
        std::get<program::WriteDescriptor>(design.program.sequence.at(0)).descriptor;
    EXPECT_EQ(descriptor.offset, 128 + 3 * 4);
    EXPECT_EQ(descriptor.length, 16);
    EXPECT_THAT(error_of(at(2)), HasSubstr("no whole number of elements of 32 bits"));
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
    EXPECT_THAT(error_of("%t = aie.tile(0, 2)\naie.core(%t) {\nfunc.call_indirect %q() : () -> ()\n"
                         "aie.end\n}"),
                HasSubstr("which function this calls"));
}

TEST(Design, ViewsOfSeveralDimensionsAreOffsets) {
    const auto offset_of = [](const std::string& view) {
        const Design design =
            read(std::string{kTiles} +
                 "aie.runtime_sequence(%a: memref<4x8x16xi32>, %u: "
                 "memref<*xbf16>) {\n%v = memref.subview " +
                 view +
                 "\naiex.npu.dma_memcpy_nd(%v[0, 0, 0, 2][1, 1, 1, 4][0, 0, 0, 1]) "
                 "{id = 2 : i64, metadata = @in} : memref<16xi32>\n}");
        return std::get<program::WriteDescriptor>(design.program.sequence.at(0)).descriptor.offset;
    };
    EXPECT_EQ(offset_of("%a[2, 3, 5] [1, 1, 4] [1, 1, 1] : memref<4x8x16xi32> to memref<4xi32>"),
              ((2 * 8 + 3) * 16 + 5 + 2) * 4);
    EXPECT_EQ(offset_of("%a[0, 0, 0] [1, 1, 4] [1, 1, 1] : memref<4x8x16xi32, strided<[1, 2, 3]>> "
                        "to memref<4xi32>"),
              2 * 4);
    EXPECT_EQ(offset_of("%a[2, 3, 5] [1, 1, 4] [1, 1, 1] : memref<4x8x16xi32, strided<[1, 11, 7], "
                        "offset: 3>, 1> to memref<4xi32>"),
              (2 * 1 + 3 * 11 + 5 * 7 + 2) * 4);
    EXPECT_THAT(error_of(std::string{kTiles} +
                         "aie.runtime_sequence(%a: memref<4x8xi32>) { %v = memref.subview %a[1, 0] "
                         "[1, 8] [1, 1] : memref<4x8xi32, strided<[?, 1]>> to memref<8xi32>\n}"),
                HasSubstr("needs the sizes or strides of what it views"));
}

// What the compiler leaves of a fifo that is reset.
TEST(Design, ARearmBindingResetsItsChannelsAndLocks) {
    const program::Program program =
        read(std::string{kTiles} +
             "aie.memtile_dma(%m) { %0 = aie.dma_start(S2MM, 0, ^a, ^e, repeat_count = 3)\n^a:\n"
             "aie.use_lock(%p, AcquireGreaterEqual, 1) aie.dma_bd(%b : memref<64xi32>, 0, 64) "
             "{bd_id = 5 : i32} aie.use_lock(%q, Release, 1) aie.next_bd ^a\n^e: aie.end }\n"
             "aie.objectfifo_rearm_binding @f_rearm channels(%m : index) locks(%p, %q : index, "
             "index) {channel_dirs = array<i32: 0>, channel_indices = array<i32: 0>, head_bd_ids = "
             "array<i32: 5>, lock_inits = array<i32: 2, 0>, repeat_counts = array<i32: 3>}\n"
             "aie.runtime_sequence() { aiex.dma_channel_reset_for(@f_rearm) }")
            .program;
    ASSERT_EQ(program.sequence.size(), 4U);
    EXPECT_EQ(std::get<program::ResetChannel>(program.sequence[0]).channel.tile.row, 1);
    EXPECT_EQ(std::get<program::SetLock>(program.sequence[1]).value, 2);
    EXPECT_EQ(std::get<program::SetLock>(program.sequence[2]).value, 0);
    const auto& push = std::get<program::PushTask>(program.sequence[3]);
    EXPECT_EQ(push.task.descriptor, 5);
    EXPECT_EQ(push.task.repeat, 4);
}

TEST(Design, ScratchpadValuesAreTheHosts) {
    const std::string sequence =
        "aie.runtime_sequence(%a: memref<64xi32>) {\naiex.npu.create_scratchpad {size = 4 : ui32}\n"
        "aiex.npu.update_from_scratchpad {state_table_idx = 0 : ui8, buffer = @words, address = 0 "
        ": ui32}\n"
        "%t = aiex.dma_configure_task(%s, MM2S, 0) { aie.dma_bd(%a : memref<64xi32>, 0, 8) "
        "{offset_parameter = @o} aie.end }\n}";
    const std::string tiles = std::string{kTiles} +
                              "%w = aie.buffer(%c) {sym_name = \"words\"} : "
                              "memref<2xi32>\n";
    EXPECT_THAT(read(tiles + sequence).notes,
                testing::IsSupersetOf({HasSubstr("from the host's scratchpad is left out"),
                                       HasSubstr("scratchpad adds are taken as 0")}));
    // Where the value bounds a loop of a core, it cannot be left out.
    EXPECT_THAT(error_of(tiles + sequence +
                         "aie.core(%c) { %c0 = arith.constant 0 : index %c1 = arith.constant 1 : "
                         "index\n%n = memref.load %w[%c0] : memref<2xi32> %m = arith.index_cast %n "
                         ": i32 to index\nscf.for %i = %c0 to %m step %c1 { aie.use_lock(%l, "
                         "Release, 1) } aie.end }"),
                HasSubstr("buffer @words bounds a loop of a core"));
}

TEST(Design, TasksOfDescriptorsThatMoveNothingAreLeftOut) {
    const Design design =
        read(std::string{kTiles} +
             "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n^a: aie.dma_bd(%x : "
             "memref<16xi32>, 0, 0)\naie.next_bd ^a\n^e: aie.end }\n"
             "aie.runtime_sequence() {\naiex.npu.write32 {address = 2219524 : ui32, value = 0 : "
             "ui32} }");
    EXPECT_TRUE(design.program.sequence.empty());
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("descriptors move nothing")));
}

TEST(Design, ATaskTakesTheDescriptorItIsGiven) {
    const program::Program program =
        read(std::string{kTiles} +
             "aie.runtime_sequence(%a: memref<64xi32>) {\n"
             "%x = aiex.dma_bd_pool_pop(0, 0) : i32 %y = aiex.dma_bd_pool_pop(0, 0) : i32\n"
             "aiex.dma_bd_pool_push(0, 0) bd_id %x : i32\n"
             "%t = aiex.dma_configure_task(%s, MM2S, 0) bd_id %y : i32 "
             "{ aie.dma_bd(%a : memref<64xi32>, 0, 8) aie.end } {issue_token = true}\n"
             "aiex.dma_start_task(%t) }")
            .program;
    EXPECT_EQ(std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor.id, 1);
    EXPECT_EQ(std::get<program::PushTask>(program.sequence.at(1)).task.descriptor, 1);
}

TEST(Design, OfSeveralLaunchesTheFirstIsRunAndTheOthersAreNamed) {
    const auto source = parse_design(
        "module { aie.device(npu1) @one { aie.runtime_sequence() { } }\n"
        "aie.device(npu1) @two { aie.runtime_sequence() { } } }",
        "d.mlir");
    const Design design = lower(source, {}, config());
    EXPECT_EQ(design.program.name, "one");
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("(@one, @two) the first is run")));
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

TEST(DeviceNames, PartitionsMeanTheirArray) {
    EXPECT_EQ(device_of("npu1_4col"), "xdna");
    EXPECT_EQ(device_of("npu"), "xdna");
    EXPECT_EQ(device_of("ipu"), "xdna");  // its name before 2024
    EXPECT_EQ(device_of("npu2_1col"), "xdna2");
    EXPECT_EQ(device_of("xcvc1902"), "vck190");
    EXPECT_EQ(device_of("NPUDEVICE"), "");
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir
