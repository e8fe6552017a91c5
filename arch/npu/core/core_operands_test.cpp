#include "arch/npu/core/core_operands.hpp"

#include <gtest/gtest.h>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using testing::kTile;

struct Bench {
    std::span<std::int32_t> values(std::int64_t buffer) {
        const std::span<std::byte> bytes = memory.buffer(buffer);
        return {reinterpret_cast<std::int32_t*>(bytes.data()), bytes.size() / 4};
    }
    program::Kernel kernel(program::KernelKind kind) const {
        program::Kernel result;
        result.kind = kind;
        result.m = 1;
        result.n = 2;
        result.c = DataType::Int32;
        result.value = 100;
        return result;
    }
    NpuConfig config = testing::core_config();
    program::CoreProgram core{kTile, {{"a", {3, 1, 2}}, {"b", {0}}}, {}};
    program::Program program = testing::with_buffers(
        {{"w", kTile, 0, 8}, {"x", kTile, 64, 8}, {"y", kTile, 128, 8}, {"z", kTile, 192, 8}});
    tile::TileMemory memory{config, program};
    KernelTiming timing{config.kernels};
    CoreOperands operands{core, timing, &memory};
};

TEST(CoreOperands, ARotationTakesItsBuffersInTurn) {
    Bench b;
    EXPECT_EQ(b.operands.buffer(0), 3);
    b.operands.advance({0});
    EXPECT_EQ(b.operands.buffer(0), 1);
    EXPECT_EQ(b.operands.buffer(1), 0);
    b.operands.advance({0, 1});
    EXPECT_EQ(b.operands.buffer(0), 2);
    EXPECT_EQ(b.operands.buffer(1), 0);
    b.operands.advance({0});
    EXPECT_EQ(b.operands.buffer(0), 3);
}

TEST(CoreOperands, ARotationTakesTheEqualPartsOfABufferOneAfterTheOther) {
    Bench b;
    b.core.rotations[0].parts = 2;
    EXPECT_EQ(b.operands.bytes(0).size(), 4U);
    EXPECT_EQ(b.operands.bytes(0).data(), b.memory.buffer(3).data());
    b.operands.advance({0});
    EXPECT_EQ(b.operands.buffer(0), 3);
    EXPECT_EQ(b.operands.bytes(0).data(), b.memory.buffer(3).data() + 4);
    b.operands.advance({0});
    EXPECT_EQ(b.operands.bytes(0).data(), b.memory.buffer(1).data());
}

TEST(CoreOperands, KernelsWorkOnTheBuffersTheirRotationsStandAt) {
    Bench b;
    b.values(3)[0] = 5;
    b.values(0)[0] = 70;
    b.values(1)[0] = 900;
    b.operands.compute(b.kernel(program::KernelKind::Add), {0, 1, 0});
    EXPECT_EQ(b.values(3)[0], 75);
    b.operands.advance({0});
    b.operands.compute(b.kernel(program::KernelKind::AddValue), {1, 0});
    EXPECT_EQ(b.values(1)[0], 170);
    b.operands.compute(b.kernel(program::KernelKind::Zero), {1});
    EXPECT_EQ(b.values(0)[0], 0);
    EXPECT_EQ(b.values(3)[0], 75);
}

TEST(CoreOperands, AKernelOfStatedCostMovesNoData) {
    Bench b;
    b.values(3)[0] = 5;
    b.operands.compute(b.kernel(program::KernelKind::Fixed), {0});
    b.operands.compute(b.kernel(program::KernelKind::Inline), {0});
    EXPECT_EQ(b.values(3)[0], 5);
}

TEST(CoreOperands, WithoutMemoryOnlyTheirTimeCounts) {
    Bench b;
    EXPECT_TRUE(b.operands.functional());
    EXPECT_FALSE(CoreOperands(b.core, b.timing, nullptr).functional());
}

}  // namespace
}  // namespace tilesim::arch::npu::core
