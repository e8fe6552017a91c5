#include "arch/npu/core/kernel_timing.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::core {
namespace {

constexpr std::int64_t kSteps = 7;  // of k
constexpr std::int64_t kFillDrain = 31;

// Mmuls of 2 x 3 x 5 int8 in blocks of 3 x 2. A sub-tile of A has 6 B, of B 15 B, of C 10 B.
KernelConfig sample() {
    KernelConfig config;
    config.load_width = base::BytesPerCycle{7};
    config.load_slots = 2;
    config.store_width = base::BytesPerCycle{3};
    MultiplyMode mode;
    mode.r = 2;
    mode.s = 3;
    mode.t = 5;
    mode.block_rows = 3;
    mode.block_columns = 2;
    mode.accumulate_interval = base::Cycles{5};
    mode.fill_drain = base::Cycles{kFillDrain};
    config.modes = {mode};
    return config;
}

program::Kernel kernel(std::int64_t m, std::int64_t k, std::int64_t n) {
    program::Kernel result;
    result.name = "kernel";
    result.kind = program::KernelKind::Multiply;
    result.m = m;
    result.k = k;
    result.n = n;
    return result;
}

// So many mmuls down and to the right.
program::Kernel mmuls(std::int64_t rows, std::int64_t columns) {
    return kernel(2 * rows, 3 * kSteps, 5 * columns);
}

KernelCycles cycles(const KernelConfig& config, const program::Kernel& kernel) {
    return KernelTiming(config).cycles(kernel);
}

TEST(KernelTiming, ABlockIssuesAnMmulASlotInEachStep) {
    const KernelCycles block = cycles(sample(), mmuls(3, 2));
    EXPECT_EQ(block.issue.count(), kSteps * 3 * 2);
    EXPECT_EQ(block.loop_extra.count(), 0);
}

TEST(KernelTiming, AnMmulTakesItsIssueSlots) {
    KernelConfig config = sample();
    config.modes[0].issue_slots = 13;
    const KernelCycles block = cycles(config, mmuls(3, 2));
    EXPECT_EQ(block.issue.count(), kSteps * 3 * 2 * 13);
    EXPECT_EQ(block.loop_extra.count(), 0);
    EXPECT_DOUBLE_EQ(KernelTiming(config).peak_macs(config.modes[0]), 2 * 3 * 5 / 13.0);
}

TEST(KernelTiming, AStepWaitsForTheLoadsOfItsSubTiles) {
    // Three sub-tiles of A and two of B, each in whole loads.
    KernelConfig config = sample();
    config.load_slots = 1;  // of 7 B: 1 each of A and 3 each of B
    EXPECT_EQ(cycles(config, mmuls(3, 2)).loop_extra.count(), kSteps * (3 * 1 + 2 * 3 - 6));
    config.load_slots = 2;  // of 4 B: 2 and 4
    config.load_width = base::BytesPerCycle{4};
    EXPECT_EQ(cycles(config, mmuls(3, 2)).loop_extra.count(), kSteps * ((3 * 2 + 2 * 4) / 2 - 6));
    config.load_width = base::BytesPerCycle{5};  // 2 and 3: as many as the mmuls
    EXPECT_EQ(cycles(config, mmuls(3, 2)).loop_extra.count(), 0);
}

TEST(KernelTiming, LoadsFillTheirSlotsUnevenly) {
    KernelConfig config = sample();
    config.modes[0].accumulate_interval = base::Cycles{1};
    // Of the 1 x 2 block: 1 load of A and 3 each of B, 7 in two slots.
    EXPECT_EQ(cycles(config, mmuls(1, 2)).loop_extra.count(), kSteps * (4 - 2));
}

TEST(KernelTiming, AnAccumulatorTakesItsNextSumAfterTheInterval) {
    KernelConfig config = sample();
    config.modes[0].accumulate_interval = base::Cycles{6};  // as long as the block's mmuls
    EXPECT_EQ(cycles(config, mmuls(3, 2)).loop_extra.count(), 0);
    config.modes[0].accumulate_interval = base::Cycles{7};
    EXPECT_EQ(cycles(config, mmuls(3, 2)).loop_extra.count(), kSteps * 1);
}

TEST(KernelTiming, AModeMayLoseASlotEverySoManyMmuls) {
    const auto lost = [](std::int64_t every) {
        KernelConfig config = sample();
        config.modes[0].extra_every = every;
        return cycles(config, mmuls(3, 2)).loop_extra.count();
    };
    EXPECT_EQ(lost(kSteps * 6 - 1), 2);  // the second one is begun
    EXPECT_EQ(lost(kSteps * 6), 1);
    EXPECT_EQ(lost(11), 4);
    EXPECT_EQ(lost(0), 0);
}

TEST(KernelTiming, CIsLoadedThroughAllLoadSlotsUnlessItIsConverted) {
    KernelConfig config = sample();
    // 10 B of C in loads of 7 B: two an mmul.
    EXPECT_EQ(cycles(config, mmuls(3, 2)).c_load.count(), 3 * 2 * 2 / 2);
    config.modes[0].converting_load = true;
    EXPECT_EQ(cycles(config, mmuls(3, 2)).c_load.count(), 3 * 2 * 2);
    config.modes[0].converting_load = false;
    config.load_width = base::BytesPerCycle{4};  // three loads in two slots
    EXPECT_EQ(cycles(config, mmuls(1, 1)).c_load.count(), 2);
}

TEST(KernelTiming, CIsStoredAVectorACycle) {
    KernelConfig config = sample();
    EXPECT_EQ(cycles(config, mmuls(3, 2)).c_store.count(), 3 * 2 * 4);  // 10 B, 3 at a time
    config.store_width = base::BytesPerCycle{10};
    EXPECT_EQ(cycles(config, mmuls(3, 2)).c_store.count(), 3 * 2);
}

TEST(KernelTiming, EveryBlockFillsAndDrainsThePipeline) {
    EXPECT_EQ(cycles(sample(), mmuls(3, 2)).fill_drain.count(), kFillDrain);
    EXPECT_EQ(cycles(sample(), mmuls(3 * 2, 2 * 5)).fill_drain.count(), 2 * 5 * kFillDrain);
}

TEST(KernelTiming, BlocksAtTheLowerAndRightEdgesAreSmaller) {
    // 2 x 3 blocks of 3 x 2 mmuls; 3 of 1 x 2 below, 2 of 3 x 1 to the right, 1 of 1 x 1.
    const KernelCycles all = cycles(sample(), mmuls(2 * 3 + 1, 3 * 2 + 1));
    EXPECT_EQ(all.issue.count(), kSteps * 7 * 7);
    // In a step the small ones wait for their accumulators: 5 cycles instead of 2, 3 and 1.
    EXPECT_EQ(all.loop_extra.count(), kSteps * (3 * (5 - 2) + 2 * (5 - 3) + 1 * (5 - 1)));
    EXPECT_EQ(all.fill_drain.count(), (6 + 3 + 2 + 1) * kFillDrain);
}

TEST(KernelTiming, TheTotalIsTheSumOfItsParts) {
    const KernelCycles block = cycles(sample(), mmuls(3, 2));
    EXPECT_EQ(block.total().count(), kSteps * 6 + 0 + 6 + 24 + kFillDrain);
    const KernelCycles parts{base::Cycles{2}, base::Cycles{3},  base::Cycles{5},
                             base::Cycles{7}, base::Cycles{11}, base::Cycles{13}};
    EXPECT_EQ(parts.total().count(), 2 + 3 + 5 + 7 + 11 + 13);
}

// The block's A is 6 x 21 B in 21 loads, its B 21 x 10 B in 42: every load of A meets one of B.
TEST(KernelTiming, LoadsOfAAndBFromOneBankTakeTurns) {
    const KernelConfig config = sample();
    const KernelTiming timing(config);
    const auto conflicts = [&](std::int64_t a, std::int64_t b) {
        return timing.cycles(mmuls(3, 2), {a, b, 1000}).conflicts.count();
    };
    EXPECT_EQ(conflicts(0, 1000), 0);
    EXPECT_EQ(conflicts(0, 500), kSteps * 3);
    EXPECT_EQ(conflicts(1000 - 63, 1000), 11);        // half of A in the bank of all of B: 10.5
    EXPECT_EQ(conflicts(1000 - 63, 1000 - 105), 11);  // half and half, in both banks
    KernelConfig one_slot = config;
    one_slot.load_slots = 1;
    EXPECT_EQ(KernelTiming(one_slot).cycles(mmuls(3, 2), {0, 500, 1000}).conflicts.count(), 0);
}

TEST(KernelTiming, TheMoreBlocksTheMoreLoadsMeet) {
    const KernelConfig config = sample();
    // Rows of A are loaded for each of five block columns, columns of B for each of two block rows.
    const KernelCycles all = KernelTiming(config).cycles(mmuls(3 * 2, 2 * 5), {0, 2000, 100'000});
    EXPECT_EQ(all.conflicts.count(), kSteps * 6 * 5);
    EXPECT_EQ(all.total().count(),
              KernelTiming(config).cycles(mmuls(3 * 2, 2 * 5)).total().count() + kSteps * 6 * 5);
}

// B's column is loaded for each block of six rows, three times a sub-tile; A's rows once each.
TEST(KernelTiming, WhereBIsLoadedLessOftenItsLoadsMeet) {
    KernelConfig config = sample();
    config.modes[0].block_rows = 6;
    const auto conflicts = [&](std::int64_t rows) {
        return KernelTiming(config).cycles(mmuls(rows, 1), {0, 2000, 100'000}).conflicts.count();
    };
    EXPECT_EQ(conflicts(2), kSteps * 2);  // A's
    EXPECT_EQ(conflicts(6), kSteps * 3);
    EXPECT_EQ(conflicts(12), kSteps * 2 * 3);
}

TEST(KernelTiming, ZeroStoresAVectorACycle) {
    program::Kernel zero = kernel(3, 0, 7);
    zero.kind = program::KernelKind::Zero;
    zero.c = DataType::Int16;
    KernelConfig config = sample();
    EXPECT_EQ(cycles(config, zero).total().count(), 3 * 7 * 2 / 3);
    config.store_width = base::BytesPerCycle{4};  // the last store is half empty
    EXPECT_EQ(cycles(config, zero).total().count(), 11);
}

TEST(KernelTiming, AddingTakesAsLongAsItsStoresOrItsLoads) {
    program::Kernel add = kernel(1, 0, 43);
    add.kind = program::KernelKind::Add;
    program::Kernel add_value = add;
    add_value.kind = program::KernelKind::AddValue;
    KernelConfig config = sample();
    // 43 B: 15 stores of 3 B; 7 loads an operand, two a cycle.
    EXPECT_EQ(cycles(config, add).c_store.count(), 15);
    EXPECT_EQ(cycles(config, add).total().count(), 15);
    config.store_width = base::BytesPerCycle{17};  // 3 stores
    EXPECT_EQ(cycles(config, add).c_store.count(), 3);
    EXPECT_EQ(cycles(config, add).loop_extra.count(), 7 * 2 / 2 - 3);
    EXPECT_EQ(cycles(config, add_value).loop_extra.count(), 4 - 3);
}

TEST(KernelTiming, OfModesOfTheSameTypesANameChoosesOne) {
    KernelConfig config = sample();
    config.modes.push_back(config.modes[0]);
    config.modes[0].name = "fast";
    config.modes[1].name = "slow";
    config.modes[1].issue_slots = 17;
    program::Kernel named = mmuls(3, 2);
    EXPECT_EQ(cycles(config, named).issue.count(), kSteps * 6);
    named.mode = "slow";
    EXPECT_EQ(cycles(config, named).issue.count(), kSteps * 6 * 17);
    named.mode = "slower";
    EXPECT_EQ(KernelTiming(config).check(named),
              "this device has no int8 x int8 -> int8 multiply of mode slower; it has fast, slow");
}

TEST(KernelTiming, AModeIsOfThreeTypes) {
    KernelConfig config = sample();
    const KernelTiming timing(config);
    using enum DataType;
    EXPECT_EQ(timing.find_mode(Int8, Int8, Int8), &config.modes[0]);
    EXPECT_EQ(timing.find_mode(Int16, Int8, Int8), nullptr);
    EXPECT_EQ(timing.find_mode(Int8, Int16, Int8), nullptr);
    EXPECT_EQ(timing.find_mode(Int8, Int8, Int16), nullptr);
}

TEST(KernelTiming, ElementsHaveTheSizesOfTheirTypes) {
    KernelConfig config = sample();
    config.modes[0].a = DataType::Int32;  // 24 B: 4 loads of 7 B
    config.modes[0].c = DataType::Int16;  // 20 B: 3 loads, 7 stores of 3 B
    program::Kernel wide = mmuls(3, 2);
    wide.a = DataType::Int32;
    wide.c = DataType::Int16;
    const KernelCycles block = cycles(config, wide);
    EXPECT_EQ(block.loop_extra.count(), kSteps * ((3 * 4 + 2 * 3) / 2 - 6));
    EXPECT_EQ(block.c_load.count(), 6 * 3 / 2);
    EXPECT_EQ(block.c_store.count(), 6 * 7);
}

TEST(KernelTiming, SaysWhatItCannotRun) {
    const KernelConfig config = sample();
    const KernelTiming timing(config);
    EXPECT_EQ(timing.check(mmuls(3, 2)), "");
    for (const auto& uneven :
         {kernel(3, 3, 5), kernel(2, 4, 5), kernel(2, 3, 6), kernel(0, 3, 5)}) {
        EXPECT_NE(timing.check(uneven).find("multiples of the mmul shape 2 x 3 x 5"),
                  std::string::npos);
    }
    program::Kernel other = mmuls(3, 2);
    other.c = DataType::F32;
    EXPECT_EQ(timing.check(other),
              "this device has no int8 x int8 -> f32 multiply; it has int8 x int8 -> int8");
    other.kind = program::KernelKind::Add;
    EXPECT_EQ(timing.check(other), "");
    other.c = DataType::Bf16;
    EXPECT_EQ(timing.check(other), "adds int8, int16, int32 or f32, not bf16");
    other.kind = program::KernelKind::Zero;
    other.n = 0;
    EXPECT_EQ(timing.check(other), "needs the numbers of elements, `m` and `n`");
    other.m = other.n = 1;
    EXPECT_EQ(timing.check(other), "");
    other.m = 0;
    EXPECT_NE(timing.check(other), "");
    other.kind = program::KernelKind::Fixed;
    EXPECT_EQ(timing.check(other), "needs `cycles`");
    other.cycles = 5;
    EXPECT_EQ(timing.check(other), "");
}

}  // namespace
}  // namespace tilesim::arch::npu::core
