// The run-time sequence of designs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"
#include "workloads/npu/mlir/design/design_testing.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using design::config;
using design::Design;
using design::error_of;
using design::kSmallDesign;
using design::lower;
using design::parse_design;
using design::read;

namespace {

using testing::HasSubstr;

TEST(Design, TheSequenceStatesTransfers) {
    const program::Program program =
        read(std::string{kSmallDesign} +
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

// Riallto's applications of 2023 move their frames so.
TEST(Design, OfThreeStridesOneOfZeroGoesOnInsideOfIt) {
    const auto written = [](const char* numbers) {
        const std::string transfer = std::string{kSmallDesign} +
                                     "aie.runtime_sequence(%a: memref<8x64xi32>) {\n"
                                     "aiex.npu.dma_memcpy_nd(0, 0, %a" +
                                     numbers +
                                     ") {id = 2 : i64, metadata = @in} : memref<8x64xi32> }";
        return std::get<program::WriteDescriptor>(read(transfer).program.sequence.at(0)).descriptor;
    };
    const auto whole = written("[0, 0, 0, 0][1, 1, 8, 64][0, 0, 0]");
    EXPECT_EQ(whole.length, 8 * 64);
    EXPECT_TRUE(whole.dimensions.empty());
    const auto rows = written("[0, 0, 0, 0][1, 4, 2, 16][0, 0, 32]");
    EXPECT_EQ(rows.length, 4 * 2 * 16);
    ASSERT_EQ(rows.dimensions.size(), 3U);
    EXPECT_EQ(rows.dimensions[2].size, 4);
    EXPECT_EQ(rows.dimensions[2].stride, 2 * 32);
}

// The words of 33828896 come from a compiler's listing: release lock 1 by 1, acquire lock 0 at 1,
// valid.
TEST(Design, RegisterWritesAreDescriptors) {
    const program::Program program =
        read(std::string{kSmallDesign} +
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

// Word 6 of a memory tile's descriptor: steps of 8 words (7), four of them (3), of which the third
// comes first (2); or field by field.
TEST(Design, RegistersSayWithWhichStepAnIterationBegins) {
    const auto written = [](const std::string& operations) {
        const program::Program program =
            read(std::string{kSmallDesign} +
                 "memref.global \"private\" constant @w : memref<8xi32> = dense<[8, 0, 0, 0, 0, "
                 "0, " +
                 std::to_string((2 << 23) + (3 << 17) + 7) +
                 ", -2147483648]>\naie.runtime_sequence(%a: memref<8xi32>) {\n" + operations +
                 "aiex.npu.write32 {address = 0x1A0634 : ui32, value = 1 : ui32} }")
                .program;
        return std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor;
    };
    for (const program::BufferDescriptor& bd :
         {written("%0 = memref.get_global @w : memref<8xi32>\n"
                  "aiex.npu.blockwrite(%0) {address = 0x1A0020 : ui32} : memref<8xi32>\n"),
          written("aiex.npu.writebd {column = 0, row = 1, bd_id = 1, buffer_length = 8, "
                  "iteration_current = 2, iteration_size = 3, iteration_stride = 7, "
                  "valid_bd = 1}\n")}) {
        ASSERT_TRUE(bd.iteration);
        EXPECT_EQ(bd.iteration->size, 4);
        EXPECT_EQ(bd.iteration->stride, 8);
        EXPECT_EQ(bd.iteration->current, 2);
    }
}

// A core's program (0x20000), its switch (0x3F000), what its trace unit watches (0x340E0, by mask
// as well) and data of no buffer: a block and four words.
TEST(Design, WritesOfWhichNothingDependsAreCounted) {
    const Design design =
        read(std::string{kSmallDesign} +
             "memref.global \"private\" constant @w : memref<5xi32> = dense<[1, 2, 3, 4, 5]>\n"
             "aie.runtime_sequence(%a: memref<8xi32>) {\n"
             "%0 = memref.get_global @w : memref<5xi32>\n"
             "aiex.npu.blockwrite(%0) {address = 0x220000 : ui32} : memref<5xi32>\n"
             "aiex.npu.write32 {address = 0x23F000 : ui32, value = 1 : ui32}\n"
             "aiex.npu.write32 {address = 0x2340E0 : ui32, value = 1 : ui32}\n"
             "aiex.npu.maskwrite32 {address = 0x2340E0 : ui32, value = 1 : ui32, mask = 1 : ui32}\n"
             "aiex.npu.write32 {address = 0x20F000 : ui32, value = 1 : ui32}\n"
             "aiex.npu.write32 {address = 0x20F004, value = 1, of_a_block} }");
    ASSERT_EQ(design.program.sequence.size(), 1U);
    EXPECT_EQ(std::get<program::WriteRegisters>(design.program.sequence[0]).writes, 5);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("(switches, programs, timers) only")));
}

// 0x1D228 is the state of MM2S 0 of a shim: bits 20 to 22 count queued tasks, bit 19 is a running
// one.
TEST(Design, APollOfAChannelsStateWaitsForRoomInItsQueue) {
    const auto polled = [](const char* mask) {
        return read(std::string{kSmallDesign} +
                    "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                    "%s0 = arith.constant 119336 : i32 %z = arith.constant 0 : i32\n"
                    "%k = arith.constant " +
                    mask + " : i32\naiex.npu.maskpoll(%s0, %z, %k) : i32, i32, i32 }")
            .program.sequence.at(0);
    };
    const auto room = std::get<program::WaitIdle>(polled("4194304"));
    EXPECT_EQ(room.channel, (program::ChannelId{{0, 0}, program::Direction::MM2S, 0}));
    EXPECT_EQ(room.queued, 3);
    EXPECT_EQ(std::get<program::WaitIdle>(polled("6291456")).queued, 1);
    EXPECT_EQ(std::get<program::WaitIdle>(polled("7340032")).queued, 0);
    EXPECT_FALSE(std::get<program::WaitIdle>(polled("7864320")).queued);  // and none running
    for (const char* other : {"1048576", "5242880", "4194305", "0"}) {
        EXPECT_THROW(polled(other), arch::base::config::ConfigError) << other;
    }
}

// 0x1D200 controls S2MM 0 of a shim; bits 8 to 12 say to whom its tokens go.
TEST(Design, WhoGetsATokenIsPartOfThePushThatAsksForIt) {
    const auto writes = [](const char* mask) {
        const program::Program program =
            read(std::string{kSmallDesign} +
                 "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                 "aiex.npu.maskwrite32 {address = 0x1D200 : ui32, value = 0xF00 : ui32, mask = " +
                 mask + " : ui32} }")
                .program;
        return program.sequence.size();
    };
    EXPECT_EQ(writes("0x1F00"), 0U);
    EXPECT_EQ(writes("0x0F00"), 1U);
}

TEST(Design, OperandsOfRegisterWritesStandInOrder) {
    const program::Program program =
        read(std::string{kSmallDesign} +
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

// A block of words that the sequence has as values (2026), and a push that names an allocation
// (2023).
TEST(Design, BlocksOfValuesAndPushesByAllocationAreWrites) {
    const program::Program program =
        read(std::string{kSmallDesign} +
             "aie.runtime_sequence(%a: memref<64xi32>) {\n"
             "%n = arith.constant 8 : i32 %w = arith.constant 118784 : i32\n"
             "%z = arith.constant 0 : i32 %v = arith.constant 0x2000000 : i32\n"
             "aiex.npu.blockwrite_values(%w : i32) values %n, %z, %z, %z, %z, %z, %z, %v : i32, "
             "i32, i32, i32, i32, i32, i32, i32\n"
             "aiex.npu.address_patch {addr = 118788 : ui32, arg_idx = 0 : i32, arg_plus = 64 : "
             "i32}\n"
             "aiex.npu.shimtile_push_queue {metadata = @in, issue_token = true, repeat_count = 3 : "
             "i32, bd_id = 0 : i32} }")
            .program;
    const auto& write = std::get<program::WriteDescriptor>(program.sequence.at(0));
    EXPECT_EQ(write.descriptor.length, 8);
    EXPECT_EQ(write.descriptor.offset, 64);
    const auto& push = std::get<program::PushTask>(program.sequence.at(1));
    EXPECT_EQ(push.task.repeat, 4);
    EXPECT_TRUE(push.task.token);
}

// CORE_CONTROL of a core tile is 0x32000, its bit 1 resets; 0x1DE00 controls S2MM 0. A core begins
// again when the bit falls; a channel drops its tasks when it rises. What does not run has nothing
// to reset: the words only take their time, as the other one does.
TEST(Design, ResetsByRegisterAreThoseOfCoresAndChannels) {
    const auto reset = [](const std::string& before, int address) {
        std::string writes;
        for (const int value : {2, 0}) {
            writes += fmt::format(
                "aiex.npu.maskwrite32 {{address = {} : ui32, value = {} : ui32, mask = 2 : ui32, "
                "column = 0 : i32, row = 2 : i32}}\n",
                address, value);
        }
        return read(std::string{kSmallDesign} + before +
                    "aie.runtime_sequence(%a: memref<8xi32>) {\n" + writes + "}")
            .program.sequence;
    };
    const std::string core = "aie.core(%c) { aie.use_lock(%l, Acquire, 1) aie.end }\n";
    const std::string channel =
        "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n^a: aie.dma_bd(%x : "
        "memref<16xi32>) aie.next_bd ^a\n^e: aie.end }\n";
    for (const int address : {0x32000, 0x1DE00}) {
        const auto nothing = reset("", address);
        ASSERT_EQ(nothing.size(), 1U);
        EXPECT_EQ(std::get<program::WriteRegisters>(nothing[0]).writes, 2);
    }
    const auto cores = reset(core, 0x32000);
    ASSERT_EQ(cores.size(), 2U);
    EXPECT_EQ(std::get<program::WriteRegisters>(cores[0]).writes, 1);
    EXPECT_EQ(std::get<program::ResetCore>(cores[1]).tile, (program::TileCoordinate{0, 2}));
    const auto channels = reset(core + channel, 0x1DE00);
    ASSERT_EQ(channels.size(), 2U);
    EXPECT_EQ(std::get<program::WriteRegisters>(channels[1]).writes, 1);
    EXPECT_EQ(std::get<program::ResetChannel>(channels[0]).channel,
              (program::ChannelId{{0, 2}, program::Direction::S2MM, 0}));
}

// A shim task of so many words at an offset, in a task's form.
std::string task(const char* name, const char* where) {
    return fmt::format(
        "%{} = aiex.dma_configure_task(%s, MM2S, 0) {{ aie.dma_bd(%a : memref<?xi32> {}) "
        "aie.end }} {{issue_token = true}}\naiex.dma_start_task(%{})\n",
        name, where, name);
}

TEST(Design, NumbersOfTheLaunchAreStated) {
    const std::string body = std::string{kSmallDesign} +
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

TEST(Design, ASequenceThatIsRunAsksForNumbersOnlyWhereItUsesThem) {
    const auto text = [](const char* length) {
        return std::string{kSmallDesign} +
               "aie.runtime_sequence @inner(%a: memref<?xi32>, %n: i32) {\n" + task("t", length) +
               "}\naie.runtime_sequence @outer(%a: memref<?xi32>, %n: i32, %m: i32) {\n"
               "aiex.run @inner(%a, %m) : (memref<?xi32>, i32)\n}";
    };
    ReadOptions options;
    options.sequence = "outer";
    EXPECT_EQ(read(text("offset = 0 len = 24"), options).program.sequence.size(), 2U);
    // The other's %n is this one's %m, whatever this one's %n is.
    options.arguments = {{"n", 24}};
    EXPECT_THAT(error_of(text("offset = 0 len = %n"), options),
                HasSubstr("%m is given by the host at the launch"));
    options.arguments = {{"m", 40}};
    EXPECT_EQ(std::get<program::WriteDescriptor>(
                  read(text("offset = 0 len = %n"), options).program.sequence.at(0))
                  .descriptor.length,
              40);
}

TEST(Design, ASequencesLoopHandsOnWhatItYields) {
    const program::Program program =
        read(std::string{kSmallDesign} +
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
    const Design design = read(std::string{kSmallDesign} +
                               "aie.runtime_sequence(%a: memref<8xi32>) {\n"
                               "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 2][3, 1, 2, 4][16, 0, 8, 1]) "
                               "{id = 2 : i64, metadata = @in} : memref<8xi32>\n}");
    // Words 2 to 2 + 2 * 16 + 1 * 8 + 3.
    EXPECT_EQ(design.program.external_buffers.at(0).bytes, (2 + 2 * 16 + 8 + 3 + 1) * 4);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("is larger than its type says")));
}

TEST(Design, AShimDescriptorNobodyPatchesMovesABufferOfItsOwn) {
    const Design design = read(
        std::string{kSmallDesign} +
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
        read(std::string{kSmallDesign} + "aie.runtime_sequence(%a: memref<8xi32>) {\n" +
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

TEST(Design, AConfigureWithoutADeviceIsOfThePresentOne) {
    const Design design = read(std::string{kSmallDesign} +
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
        return std::string{kSmallDesign} +
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

TEST(Design, ViewsOfSeveralDimensionsAreOffsets) {
    const auto offset_of = [](const std::string& view) {
        const Design design =
            read(std::string{kSmallDesign} +
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
    EXPECT_THAT(error_of(std::string{kSmallDesign} +
                         "aie.runtime_sequence(%a: memref<4x8xi32>) { %v = memref.subview %a[1, 0] "
                         "[1, 8] [1, 1] : memref<4x8xi32, strided<[?, 1]>> to memref<8xi32>\n}"),
                HasSubstr("needs the sizes or strides of what it views"));
    EXPECT_EQ(offset_of("%a[0, 0, 1] [1, 1, 4] [5, 5, 1] : memref<4x8x16xi32> to memref<4xi32>"),
              3 * 4);  // steps of one
    EXPECT_THAT(error_of(std::string{kSmallDesign} +
                         "aie.runtime_sequence(%a: memref<8xi32>) { %v = memref.subview %a[0] [4] "
                         "[2] : memref<8xi32> to memref<4xi32, strided<[2]>>\n}"),
                HasSubstr("a view in steps of 2 is not modelled"));
}

// A task's packet was passed over.
TEST(Design, ATaskStatesThePacketOfItsDescriptors) {
    const program::Program program =
        read(std::string{kSmallDesign} +
             "aie.packet_flow(2) { aie.packet_source<%s, DMA : 1> aie.packet_dest<%m, DMA : 1> }\n"
             "aie.runtime_sequence(%a: memref<64xi32>) {\n"
             "%t = aiex.dma_configure_task(%s, MM2S, 1, <pkt_type = 1, pkt_id = 2>) {\n"
             "aie.dma_bd(%a : memref<64xi32> offset = 0 len = 8) {out_of_order_id = 6 : i32}\n"
             "aie.next_bd ^more\n^more:\n"
             "aie.dma_bd(%a : memref<64xi32> offset = 8 len = 8) {packet = #aie.packet_info<"
             "pkt_type = 0, pkt_id = 3>}\naie.end }\naiex.dma_start_task(%t)\n}")
            .program;
    const auto packet = [&program](std::size_t index) {
        return *std::get<program::WriteDescriptor>(program.sequence.at(index)).descriptor.packet;
    };
    EXPECT_EQ(packet(0).id, 2);
    EXPECT_EQ(packet(0).type, 1);
    EXPECT_EQ(packet(0).descriptor, 6);
    EXPECT_EQ(packet(1).id, 3);  // its own
}

TEST(Design, APartOfAnArgumentIsAViewOfIt) {
    const program::Program program =
        read(std::string{kSmallDesign} +
             "aie.runtime_sequence(%a: memref<64xi32>) {\n"
             "%v = aiex.arg_slice %a[12:16] : memref<64xi32> -> memref<4xi32>\n"
             "aiex.npu.dma_memcpy_nd(%v[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {id = 0 : i64, "
             "metadata = @in} : memref<4xi32>\n}")
            .program;
    EXPECT_EQ(std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor.offset, 48);
}

// What the compiler leaves of a fifo that is reset.
TEST(Design, ARearmBindingResetsItsChannelsAndLocks) {
    const program::Program program =
        read(std::string{kSmallDesign} +
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
    const std::string tiles = std::string{kSmallDesign} +
                              "%w = aie.buffer(%c) {sym_name = \"words\"} : "
                              "memref<2xi32>\n";
    EXPECT_THAT(read(tiles + sequence).notes,
                testing::IsSupersetOf({HasSubstr("from the host's scratchpad is left out"),
                                       HasSubstr("scratchpad adds are taken as 0")}));
    // Lengths, too (October 2026).
    EXPECT_THAT(read(std::string{kSmallDesign} +
                     "aie.runtime_sequence(%a: memref<64xi32>) {\n"
                     "%t = aiex.dma_configure_task(%s, MM2S, 0) { aie.dma_bd(%a : memref<64xi32> "
                     "offset = 0 len = 8) {length_parameter = @o, length_unit = 4 : i32} aie.end "
                     "}\n}")
                    .notes,
                testing::Contains(HasSubstr("scratchpad adds are taken as 0")));
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
        read(std::string{kSmallDesign} +
             "aie.mem(%c) { %0 = aie.dma_start(S2MM, 0, ^a, ^e)\n^a: aie.dma_bd(%x : "
             "memref<16xi32>, 0, 0)\naie.next_bd ^a\n^e: aie.end }\n"
             "aie.runtime_sequence() {\naiex.npu.write32 {address = 2219524 : ui32, value = 0 : "
             "ui32} }");
    EXPECT_TRUE(design.program.sequence.empty());
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("descriptors move nothing")));
}

TEST(Design, APoolGivesTheLowestDescriptorOfItsPart) {
    const auto text = [](const char* part) {
        return std::string{kSmallDesign} + "aie.runtime_sequence(%a: memref<64xi32>) {\n" +
               "%i = aiex.dma_bd_pool_pop(0, 0) partition " + part + " : i32\n" +
               "%t = aiex.dma_configure_task(%s, MM2S, 0) { aie.dma_bd(%a : memref<64xi32> offset "
               "= 0 len = 8) bd_id_val %i : i32 aie.end }\naiex.dma_start_task(%t)\n}";
    };
    const program::Program program = read(text("[3, 16)")).program;
    EXPECT_EQ(std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor.id, 3);
    EXPECT_THAT(error_of(text("[3, 17)")), HasSubstr("tile 0,0 has descriptors 0..15"));
    EXPECT_THAT(error_of(text("[3, 3)")), HasSubstr("no free descriptor"));
    // Of a chain the next block's was taken for the lowest free one.
    const program::Program chain =
        read(std::string{kSmallDesign} +
             "aie.runtime_sequence(%a: memref<64xi32>) {\n"
             "%i = aiex.dma_bd_pool_pop(0, 0) partition [3, 16) : i32\n"
             "%j = aiex.dma_bd_pool_pop(0, 0) partition [9, 16) : i32\n"
             "%t = aiex.dma_configure_task(%s, MM2S, 0) {\n"
             "aie.dma_bd(%a : memref<64xi32> offset = 0 len = 8) bd_id_val %i : i32\n"
             "aie.next_bd ^more\n^more:\n"
             "aie.dma_bd(%a : memref<64xi32> offset = 8 len = 8) bd_id_val %j : i32\naie.end }\n"
             "aiex.dma_start_task(%t)\n}")
            .program;
    EXPECT_EQ(std::get<program::WriteDescriptor>(chain.sequence.at(0)).descriptor.next, 9);
}

TEST(Design, ATaskTakesTheDescriptorItIsGiven) {
    const program::Program program =
        read(std::string{kSmallDesign} +
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

// The task %t of one descriptor, with what stands before and behind its transfer.
std::string task(const std::string& before, const std::string& heading, const std::string& clauses,
                 const std::string& behind) {
    return std::string{kSmallDesign} + "aie.runtime_sequence(%a: memref<8192xi32>) {\n" + before +
           "%t = aiex.dma_configure_task(%s, MM2S, 0) " + heading +
           " {\naie.dma_bd(%a : memref<8192xi32> offset = 0 len = 64 sizes = [1, 1, 64] strides = "
           "[0, 0, 1]) " +
           clauses + "\naie.end\n}" + behind + "}";
}

std::vector<program::Task> tasks_of(const std::string& text) {
    std::vector<program::Task> tasks;
    for (const program::SequenceOp& operation : read(text).program.sequence) {
        if (const auto* push = std::get_if<program::PushTask>(&operation)) {
            tasks.push_back(push->task);
        }
    }
    return tasks;
}

TEST(Design, TasksAndEachOfTheirStartsAreRepeatedByNumbersOrValues) {
    const auto tasks =
        tasks_of(task("%n = arith.constant 2 : i32\n", "repeat %n : i32", "",
                      " {issue_token = true}\naiex.dma_start_task(%t)\n"
                      "aiex.dma_start_task(%t) {repeat_count = 4 : i32, no_token}\n"
                      "aiex.dma_start_task(%t) repeat %n : i32\naiex.dma_await_task(%t)\n"));
    ASSERT_EQ(tasks.size(), 3U);
    EXPECT_EQ(tasks[0].repeat, 3);
    EXPECT_TRUE(tasks[0].token);
    EXPECT_EQ(tasks[1].repeat, 5);
    EXPECT_FALSE(tasks[1].token);
    EXPECT_EQ(tasks[2].repeat, 3);
    EXPECT_THAT(error_of(task("", "", "", "aiex.dma_start_task(%t) {repeat_count = -1 : i32}\n")),
                HasSubstr("a task is repeated 0..1048575 times, not -1"));
    EXPECT_THAT(error_of(task("", "often", "", "")),
                HasSubstr("'often' of a task is not modelled"));
}

TEST(Design, MoreRunsThanATaskCountsAreSeveralTasks) {
    const auto tasks = tasks_of(task(
        "", "", "", " {issue_token = true, repeat_count = 600 : i32}\naiex.dma_start_task(%t)\n"));
    ASSERT_EQ(tasks.size(), 3U);
    EXPECT_EQ(tasks[0].repeat, 256);
    EXPECT_FALSE(tasks[0].token);
    EXPECT_FALSE(tasks[1].token);
    EXPECT_EQ(tasks[2].repeat, 601 - 512);
    EXPECT_TRUE(tasks[2].token);
    // The fifth would find four in the queue.
    const auto five =
        read(task("", "", "", " {repeat_count = 1279 : i32}\naiex.dma_start_task(%t)\n")).program;
    ASSERT_EQ(five.sequence.size(), 7U);  // the descriptor, the pushes, a wait
    EXPECT_EQ(std::get<program::WaitIdle>(five.sequence[5]).queued, 3);
}

TEST(Design, ATransferMayTakeItsIterationFromValues) {
    const std::string numbers =
        "%n = arith.constant 4 : i32 %d = arith.constant 1024 : i32 %o = "
        "arith.constant 0 : i32\n";
    const auto iteration = [&](const std::string& size, const std::string& stride) {
        const auto program = read(task(numbers, "",
                                       "iteration_size_val " + size +
                                           " : i32 iteration_stride_val " + stride + " : i32",
                                       ""))
                                 .program;
        return std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor.iteration;
    };
    ASSERT_TRUE(iteration("%n", "%d").has_value());
    EXPECT_EQ(iteration("%n", "%d")->size, 4);
    EXPECT_EQ(iteration("%n", "%d")->stride, 1024);
    EXPECT_FALSE(iteration("%n", "%o").has_value());  // the task's count alone
    EXPECT_THAT(error_of(task(numbers, "", "iteration_size_val %o : i32", "")),
                HasSubstr("iteration_size_val must be 1 or more, got 0"));
    EXPECT_THAT(error_of(task("", "", "loops %n : i32", "")),
                HasSubstr("'loops' behind a dma_bd is not modelled"));
}

// In May 2026 values stood behind the parentheses.
TEST(Design, ATransfersNumbersMayBeValuesBehindIt) {
    const auto program =
        read(task("%o = arith.constant 8 : i64 %l = arith.constant 32 : i64 %one = arith.constant "
                  "1 : i64\n",
                  "",
                  "dyn_offset(%o : i64) dyn_len(%l : i64) dyn_sizes(%one, %o, %one : i64, i64, "
                  "i64) dyn_strides(%one, %l, %one : i64, i64, i64)",
                  ""))
            .program;
    const auto& written = std::get<program::WriteDescriptor>(program.sequence.at(0)).descriptor;
    EXPECT_EQ(written.offset, 8 * 4);
    EXPECT_EQ(written.length, 32);
    ASSERT_FALSE(written.dimensions.empty());
    EXPECT_EQ(written.dimensions.back().stride, 32);
    EXPECT_THAT(error_of(task("", "", "dyn_len(%n : i64)", "")),
                HasSubstr("%n is not a constant the reader knows"));
}

TEST(Design, WhatTheHostWouldNotLaunchIsRefusedInTheDesignsWords) {
    const auto sequence = [](const std::string& check) {
        return "aie.runtime_sequence(%n: i32) {\n%c0 = arith.constant 0 : i32\n"
               "%holds = arith.cmpi sgt, %n, %c0 : i32\n%wide = emitc.cast %n : ui32 to i64\n" +
               check + "}";
    };
    const std::string require =
        sequence("aiex.npu.require(%holds) {message = \"n must be positive\"} : i1\n");
    ReadOptions options;
    EXPECT_EQ(error_of(require, options), "");  // not known, and nothing needs it
    options.arguments["n"] = 1;
    EXPECT_EQ(error_of(require, options), "");
    options.arguments["n"] = 0;
    EXPECT_THAT(error_of(require, options),
                HasSubstr("the host would refuse this launch: n must be positive"));
    const std::string assertion = sequence("cf.assert %holds, \"n must be above 0\"\n");
    EXPECT_THAT(error_of(assertion, options),
                HasSubstr("the host would refuse this launch: n must be above 0"));
    options.arguments["n"] = 1;
    EXPECT_EQ(error_of(assertion, options), "");
    options.arguments["n"] = 1024;
    EXPECT_THAT(
        error_of(sequence("aiex.npu.assert_bd_field(%wide) {max = 1023 : i32} : i64\n"), options),
        HasSubstr("a descriptor's field holds 0..1023, got 1024"));
    options.arguments["n"] = 3;
    const auto divisible = [&](const char* more) {
        return error_of(sequence(std::string{"aiex.npu.assert_bd_divisible(%n) {divisor = 4 : "
                                             "i32"} +
                                 more + "} : i32\n"),
                        options);
    };
    EXPECT_THAT(divisible(""), HasSubstr("must be a multiple of 4, got 3"));
    options.arguments["n"] = 1;
    EXPECT_EQ(divisible(", allow_unit"), "");
    EXPECT_NE(divisible(""), "");
}

TEST(Design, AttributesThatAreNotKnownAreToldAndLeftOut) {
    const auto notes = [](const std::string& more) {
        return read(task("", "", "", " {issue_token = true" + more + "}\n")).notes;
    };
    EXPECT_THAT(notes(", urgent = 2 : i32"),
                testing::Contains(HasSubstr("attribute 'urgent' of aiex.dma_configure_task is not "
                                            "known here and left out")));
    EXPECT_THAT(notes(""), testing::Not(testing::Contains(HasSubstr("attribute"))));
}

TEST(Design, ASequenceMayChooseByANumber) {
    const auto lock_value = [](std::int64_t number) {
        ReadOptions options;
        options.arguments["n"] = number;
        const auto program =
            read(std::string{kSmallDesign} +
                     "aie.runtime_sequence(%n: index) {\n%v = scf.index_switch %n -> i32\n"
                     "case 1 { %0 = arith.constant 5 : i32 scf.yield %0 : i32 }\n"
                     "case 3 { %0 = arith.constant 6 : i32 scf.yield %0 : i32 }\n"
                     "default { %0 = arith.constant 7 : i32 scf.yield %0 : i32 }\n"
                     "aiex.set_lock(%p, %v) }",
                 options)
                .program;
        return std::get<program::SetLock>(program.sequence.at(0)).value;
    };
    EXPECT_EQ(lock_value(1), 5);
    EXPECT_EQ(lock_value(3), 6);
    EXPECT_EQ(lock_value(2), 7);
}

TEST(Design, ReadsOfRegistersTakeTheirTime) {
    const Design design = read(std::string{kSmallDesign} +
                               "aie.runtime_sequence() {\naiex.npu.read_reg(%c, 0x100)\n"
                               "aiex.npu.read_reg(%s, 0)\n}");
    EXPECT_EQ(std::get<program::WriteRegisters>(design.program.sequence.at(0)).writes, 2);
    EXPECT_THAT(design.notes, testing::Contains(HasSubstr("reads of registers")));
    EXPECT_THAT(error_of(std::string{kSmallDesign} +
                         "aie.runtime_sequence() {\naiex.npu.read_reg(%q, 0)\n}"),
                HasSubstr("%q"));
}

TEST(Design, OfSeveralLaunchesTheMarkedOneIsRun) {
    const auto source = parse_design(
        "module { aie.device(npu1) @one { aie.runtime_sequence() { } }\n"
        "aie.device(npu1) { aie.runtime_sequence() { } } {aiex.entry_device = {reconfig_method = "
        "\"ctrlpkt\"}} }",
        "d.mlir");
    const Design design = lower(source, {}, config());
    EXPECT_THAT(design.notes, testing::Not(testing::Contains(HasSubstr("the first is run"))));
    EXPECT_EQ(design.program.name, "design");
    // The device without a symbol is the compiler's @main.
    ReadOptions options;
    options.device = "main";
    EXPECT_EQ(lower(source, options, config()).program.name, "design");
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

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::sequence
