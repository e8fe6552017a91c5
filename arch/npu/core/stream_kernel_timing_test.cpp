#include "arch/npu/core/stream_kernel_timing.hpp"

#include <gtest/gtest.h>

#include "arch/npu/core/stream_kernel_function.hpp"

namespace tilesim::arch::npu::core {
namespace {

const StreamConfig kStream;  // a word a cycle

// A register file of four accumulators of 16 lanes; load and store as on AIE1.
KernelConfig config() {
    KernelConfig c;
    c.stream_modes = {{}};
    return c;
}

program::Kernel kernel(std::int64_t m, std::int64_t k, std::int64_t n) {
    program::Kernel result;
    result.kind = program::KernelKind::Stream;
    result.m = m;
    result.k = k;
    result.n = n;
    result.a = result.b = result.c = DataType::Int16;
    return result;
}

TEST(StreamKernelTiming, EightInstructionsForFourStepsOfSixteenByFour) {
    const KernelConfig c = config();
    const StreamKernelCycles cycles = StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 4));
    EXPECT_EQ(cycles.issue.count(), 64 / 4 * 8);
    EXPECT_EQ(cycles.loop_extra.count(), 0);
    EXPECT_EQ(cycles.spill.count(), 0);
    // 16 x 4 int16 are 32 words; the first of each direction is hidden.
    EXPECT_EQ(cycles.c_load.count(), 31);
    EXPECT_EQ(cycles.c_store.count(), 31);
}

TEST(StreamKernelTiming, WiderPortsTakeMoreOfCInACycle) {
    const KernelConfig c = config();
    StreamConfig wide;
    wide.width = base::BytesPerCycle{12};
    const StreamKernelCycles cycles = StreamKernelTiming(c, wide).cycles(kernel(16, 64, 4));
    EXPECT_EQ(cycles.c_load.count(), 11 - 1);  // 32 words by three
    EXPECT_EQ(cycles.c_store.count(), 11 - 1);
    EXPECT_EQ(cycles.multiply(),
              StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 4)).multiply());
}

TEST(StreamKernelTiming, RemainderOfKTakesItsOwnInstructions) {
    const KernelConfig c = config();
    const StreamKernelTiming timing(c, kStream);
    const auto whole = timing.cycles(kernel(16, 64, 4));
    EXPECT_EQ((timing.cycles(kernel(16, 66, 4)).issue - whole.issue).count(), 4);
    EXPECT_EQ((timing.cycles(kernel(16, 65, 4)).issue - whole.issue).count(), 4);
    EXPECT_EQ((timing.cycles(kernel(16, 68, 4)).issue - whole.issue).count(), 8);
}

TEST(StreamKernelTiming, NarrowBlocksWaitForTheStream) {
    const KernelConfig c = config();
    const StreamKernelCycles cycles = StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 2));
    // A's 4 x 16 int16 take eight reads of 16 B, the body's multiplications four cycles.
    EXPECT_EQ(cycles.issue.count(), 16 * 4);
    EXPECT_EQ(cycles.loop_extra.count(), 16 * (8 - 4));
    KernelConfig slow = config();
    slow.stream_read = base::BytesPerCycle{13};  // ten reads
    EXPECT_EQ(StreamKernelTiming(slow, kStream).cycles(kernel(16, 64, 2)).loop_extra.count(),
              16 * (10 - 4));
}

TEST(StreamKernelTiming, BlocksWideAlongNWaitForTheLoadsOfB) {
    KernelConfig c = config();
    c.vector_registers = 64;
    c.load_width = base::BytesPerCycle{3};
    // B's 4 x 8 int16 take 22 loads of 3 B in two slots, the body's multiplications eight cycles.
    const StreamKernelCycles cycles = StreamKernelTiming(c, kStream).cycles(kernel(8, 64, 8));
    EXPECT_EQ(cycles.issue.count(), 16 * 8);
    EXPECT_EQ(cycles.loop_extra.count(), 16 * (11 - 8));
    EXPECT_EQ(cycles.spill.count(), 0);
    c.load_slots = 1;
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(8, 64, 8)).loop_extra.count(),
              16 * (22 - 8));
}

TEST(StreamKernelTiming, AnInstructionMultipliesItsMacs) {
    KernelConfig c = config();
    c.stream_modes[0].macs = 13;
    // Four steps of 16 lanes: 64 products in five instructions an accumulator.
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 4)).issue.count(), 16 * 4 * 5);
}

TEST(StreamKernelTiming, EveryCallFillsAndDrainsThePipeline) {
    KernelConfig c = config();
    c.stream_modes[0].fill_drain = base::Cycles{37};
    const StreamKernelCycles cycles = StreamKernelTiming(c, kStream).cycles(kernel(16, 128, 4));
    EXPECT_EQ(cycles.fill_drain.count(), 37);
    EXPECT_EQ(cycles.multiply().count(), 128 / 4 * 8 + 37);
    EXPECT_EQ(cycles.total().count(), 128 / 4 * 8 + 37 + 2 * 31);
}

TEST(StreamKernelTiming, VectorsWithoutARegisterAreStoredAndLoadedOnceMore) {
    KernelConfig c = config();
    c.load_width = base::BytesPerCycle{8};  // 16 vectors of A and 4 of B
    const auto spilled = [&c](std::int64_t registers, std::int64_t load_slots) {
        c.vector_registers = registers;
        c.load_slots = load_slots;
        const program::Kernel block = kernel(16, 64, 4);
        EXPECT_EQ(StreamKernelTiming(c, kStream).registers(block).vectors, 20);
        return StreamKernelTiming(c, kStream).cycles(block).spill.count();
    };
    // The body of 8 cycles has room for eight stores.
    EXPECT_EQ(spilled(20, 2), 0);
    EXPECT_EQ(spilled(12, 2), 0);
    EXPECT_EQ(spilled(11, 2), 16 * (9 - 8));
    EXPECT_EQ(spilled(3, 2), 16 * (17 - 8));
    EXPECT_EQ(spilled(3, 1), 16 * (17 + 4 - 8));  // as many loads, and B's
}

TEST(StreamKernelTiming, HalfAccumulatorsServeBlocksOfEightRows) {
    const KernelConfig c = config();
    const StreamKernelTiming timing(c, kStream);
    const RegisterUse use = timing.registers(kernel(8, 64, 8));
    EXPECT_EQ(use.lanes, 8);
    EXPECT_EQ(use.accumulators, 8);
    EXPECT_EQ(use.available, 8);
    EXPECT_EQ(use.spilled, 0);
    EXPECT_EQ(timing.cycles(kernel(8, 64, 8)).spill.count(), 0);
    // Twelve of eight: four come and go. One is a single half: its latency (4), two stores of 32 B
    // and a cycle of loads are over when seven others have been used, an instruction each.
    EXPECT_EQ(timing.registers(kernel(8, 64, 12)).spilled, 4);
    EXPECT_EQ(timing.cycles(kernel(8, 64, 12)).spill.count(), 0);
}

TEST(StreamKernelTiming, BlocksBeyondTheRegisterFileWaitForRegisters) {
    const KernelConfig c = config();
    const StreamKernelTiming timing(c, kStream);
    const program::Kernel wide = kernel(16, 64, 8);
    const RegisterUse use = timing.registers(wide);
    EXPECT_EQ(use.accumulators, 8);
    EXPECT_EQ(use.available, 4);
    // Four stay from one body to the next, four come and go: latency (4), stores of two halves of
    // 48 B (4) and their loads (2), during which three others are used, two instructions each.
    EXPECT_EQ(use.spilled, 4);
    const StreamKernelCycles cycles = timing.cycles(wide);
    EXPECT_EQ(cycles.issue.count(), 16 * 16);
    EXPECT_EQ(cycles.spill.count(), 16 * (10 - 6));
    // Twelve: those that come and go do so twice.
    EXPECT_EQ(timing.cycles(kernel(16, 64, 12)).spill.count(), 16 * 2 * (10 - 6));
    EXPECT_EQ(timing.cycles(kernel(16, 64, 9)).spill.count(), 16 * 2 * (10 - 6));
}

TEST(StreamKernelTiming, ARegisterIsTakenUntilItsSumIsStored) {
    KernelConfig c = config();
    c.accumulate_latency = base::Cycles{5};
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 8)).spill.count(),
              16 * (11 - 6));
    c.accumulate_latency = base::Cycles{1};
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 8)).spill.count(), 16 * (7 - 6));
}

TEST(StreamKernelTiming, AccumulatorsThatWaitForTheStreamAreUsedFurtherApart) {
    KernelConfig c = config();
    c.stream_modes[0].macs = 64;
    // One instruction each for eight accumulators, but A's 32 x 4 int16 take sixteen reads: three
    // others are used in six cycles of the ten, as where each takes two instructions.
    const StreamKernelCycles cycles = StreamKernelTiming(c, kStream).cycles(kernel(32, 64, 4));
    EXPECT_EQ(cycles.issue.count(), 16 * 8);
    EXPECT_EQ(cycles.loop_extra.count(), 16 * (16 - 8));
    EXPECT_EQ(cycles.spill.count(), 16 * (10 - 6));
}

TEST(StreamKernelTiming, SpilledSumsGoThroughTheStoreSlotAndShareTheLoadSlotsWithB) {
    KernelConfig c = config();
    c.store_width = base::BytesPerCycle{8};  // four times twelve stores
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 8)).spill.count(),
              16 * (48 - 16));
    c = config();
    c.load_slots = 1;
    c.load_width = base::BytesPerCycle{16};  // a half's load takes three
    c.vector_registers = 64;
    // Four times six loads and B's four; what is put aside needs none.
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 8)).spill.count(),
              16 * (28 - 16));
    c.load_width = base::BytesPerCycle{32};  // two, the second half empty
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 8)).spill.count(),
              16 * ((4 + 4 + 4) - 3 * 2));
}

TEST(StreamKernelTiming, MoreAccumulatorsEndTheSpilling) {
    KernelConfig c = config();
    c.accumulators = 8;
    EXPECT_EQ(StreamKernelTiming(c, kStream).cycles(kernel(16, 64, 8)).spill.count(), 0);
}

TEST(StreamKernelTiming, SaysWhatItCannotRun) {
    const KernelConfig c = config();
    const StreamKernelTiming timing(c, kStream);
    EXPECT_EQ(timing.check(kernel(16, 64, 4)), "");
    EXPECT_EQ(timing.check(kernel(8, 1, 1)), "");  // half an accumulator's lanes
    EXPECT_NE(timing.check(kernel(12, 64, 4)).find("m a multiple of 8"), std::string::npos);
    program::Kernel other = kernel(16, 64, 4);
    other.c = DataType::F32;
    EXPECT_NE(timing.check(other).find("no stream-fed int16 x int16 -> f32"), std::string::npos);
    EXPECT_NE(timing.check(kernel(8, 0, 4)), "");
    EXPECT_NE(timing.check(kernel(8, 1, 0)), "");
    EXPECT_NE(timing.check(kernel(0, 1, 1)), "");
}

TEST(StreamKernelFunction, AddsProductsModuloTheWidthOfC) {
    const program::Kernel k = kernel(8, 2, 1);
    std::vector<std::int16_t> a(16, 300);
    a[3] = -1;  // row 3 of the first column of A
    const std::vector<std::int16_t> b{300, 2};
    std::vector<std::int16_t> c(8, 5);
    multiply_stream(k, std::as_bytes(std::span{a}), std::as_bytes(std::span{b}),
                    std::as_writable_bytes(std::span{c}));
    EXPECT_EQ(c[0], static_cast<std::int16_t>(5 + 300 * 300 + 300 * 2));
    EXPECT_EQ(c[3], static_cast<std::int16_t>(5 - 300 + 600));
}

}  // namespace
}  // namespace tilesim::arch::npu::core
