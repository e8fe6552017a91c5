#include "arch/npu/core/kernel_timing.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::core {
namespace {

// Every number different, so that a confused one shows.
KernelConfig sample() {
    KernelConfig config;
    config.load_width = base::BytesPerCycle{32};
    config.store_width = base::BytesPerCycle{16};
    MultiplyMode mode;
    mode.a = mode.b = mode.c = DataType::Int8;
    mode.r = 4;
    mode.s = 8;
    mode.t = 8;
    mode.block_rows = 4;
    mode.block_columns = 2;
    mode.fill_drain = base::Cycles{7};
    mode.converting_load = true;
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

TEST(KernelTiming, ABlockIssuesItsMmulsAndMovesItsC) {
    // 16 x 16 block: 8 mmuls a step, 5 steps; C 32 B an mmul: 8 loads, 16 stores of 16 B.
    const KernelConfig config = sample();
    const KernelCycles cycles = KernelTiming(config).cycles(kernel(16, 40, 16));
    EXPECT_EQ(cycles.issue.count(), 40);
    EXPECT_EQ(cycles.loop_extra.count(), 0);
    EXPECT_EQ(cycles.c_load.count(), 8);
    EXPECT_EQ(cycles.c_store.count(), 16);
    EXPECT_EQ(cycles.fill_drain.count(), 7);
}

TEST(KernelTiming, BlocksAddUpAndEdgesAreSmaller) {
    const KernelConfig config = sample();
    const KernelTiming timing(config);
    const auto whole = timing.cycles(kernel(16, 40, 16)).total();
    EXPECT_EQ(timing.cycles(kernel(48, 40, 32)).total(), whole * 6);
    EXPECT_EQ(timing.cycles(kernel(20, 40, 16)).issue.count(), 40 + 10);
}

TEST(KernelTiming, ThinBlocksWaitForLoadsAndAccumulators) {
    KernelConfig config = sample();
    config.modes[0].block_rows = config.modes[0].block_columns = 1;
    config.modes[0].accumulate_interval = base::Cycles{3};
    EXPECT_EQ(KernelTiming(config).cycles(kernel(4, 40, 8)).loop_extra.count(), 5 * (3 - 1));
    config.load_slots = 1;  // one A and two B loads
    config.load_width = base::BytesPerCycle{8};
    EXPECT_EQ(KernelTiming(config).cycles(kernel(4, 40, 8)).loop_extra.count(), 5 * (12 - 1));
}

TEST(KernelTiming, ModesMayLoseSlots) {
    KernelConfig config = sample();
    config.modes[0].extra_every = 8;
    EXPECT_EQ(KernelTiming(config).cycles(kernel(16, 40, 16)).loop_extra.count(), 5);
}

TEST(KernelTiming, ZeroStoresOneVectorACycle) {
    program::Kernel zero = kernel(10, 0, 16);
    zero.kind = program::KernelKind::Zero;
    const KernelConfig config = sample();
    EXPECT_EQ(KernelTiming(config).cycles(zero).total().count(), 10);
}

TEST(KernelTiming, RefusesShapesTheMmulDoesNotDivide) {
    const KernelConfig config = sample();
    const KernelTiming timing(config);
    EXPECT_EQ(timing.check(kernel(16, 40, 16)), "");
    EXPECT_NE(timing.check(kernel(17, 40, 16)).find("multiples of the mmul shape 4 x 8 x 8"),
              std::string::npos);
    program::Kernel other = kernel(16, 40, 16);
    other.c = DataType::F32;
    EXPECT_NE(timing.check(other).find("no int8 x int8 -> f32"), std::string::npos);
}

}  // namespace
}  // namespace tilesim::arch::npu::core
